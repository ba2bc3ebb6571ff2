"""Exporting an account, importing a chat history and deleting an account."""
