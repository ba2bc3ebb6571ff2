"""Review pages: conversations, messages, tool calls, documents, and the record of readings. See `content_access`."""
