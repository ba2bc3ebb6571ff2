"""Views of search, and of the commands that the palette and the composer offer."""
