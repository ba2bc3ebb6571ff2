"""Helpers for text: what can be stored, shown, named, exported."""
