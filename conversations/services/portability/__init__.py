"""Taking along and passing on: exports, branches, shares, chat histories, and deleting an account."""
