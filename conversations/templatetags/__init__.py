"""Template tags and filters: figures, tool calls, and scripts as ES modules."""
