"""Pages of scenarios and of the MCP servers that they may use: what an admin edits."""
