"""Recall: which older passages of a conversation a question needs. Begin with `recalled_passage`."""
