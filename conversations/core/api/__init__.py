"""What programs ask at `/v1`: begin with `chat_request`."""
