"""Views of the content of an account: its export and deletion, and who has read it."""
