"""The WebSocket of a page: begin with `consumers`. Its frames are defined in `conversations.core.frames`."""
