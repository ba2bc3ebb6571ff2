"""Rolling summaries: what is written of messages that have left the window, and what its owner makes of it."""
