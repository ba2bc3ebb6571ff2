"""The frames between a page and the server: `definitions`, and `read_frames` to parse them."""
