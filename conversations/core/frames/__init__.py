"""The frames between a page and the server: their `definitions`, and `frame`, which writes and parses them."""
