"""Conversations, the Django app: windows, replies, the ledger, documents, pages and the admin. Begin with `core`."""
