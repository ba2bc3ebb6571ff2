"""Views of imports: the page with its form, the pieces of files that it sends, and the report."""
