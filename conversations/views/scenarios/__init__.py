"""Views of a user's own scenarios."""
