"""Views of a conversation: pages, messages, versions, windows and tool calls. Begin with `pages`."""
