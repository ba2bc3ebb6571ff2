"""Start, rename, delete and restore conversations."""
