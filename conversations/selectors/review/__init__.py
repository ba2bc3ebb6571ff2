"""Record of readings, and the search in the content of all conversations."""
