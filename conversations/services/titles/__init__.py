"""Titles that a cheap language model writes, off the path of requests, of conversations that no person has named."""
