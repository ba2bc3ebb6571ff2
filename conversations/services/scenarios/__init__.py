"""Creating, changing, exporting and importing scenarios, and keeping the tools of MCP servers listed."""
