"""Requests of programs at `/v1`: `api_keys` says who asks, `prepare_chat` what is sent, `complete_chat` sends it."""
