"""The list of conversations beside every page, what is arranged in it, folders, and what was deleted."""
