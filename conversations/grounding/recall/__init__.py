"""Recall: older passages of a conversation found for a question, by an index of its messages."""
