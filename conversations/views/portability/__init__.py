"""Views that take conversations along and pass them on: exports, shares and branches."""
