"""MCP servers, spoken to in a process of their own. Begin with `session`.

Its door: nothing outside imports anything but this module.
"""

from conversations.providers.mcp.process_protocol import McpConnection
from conversations.providers.mcp.session import McpSession, open_session

__all__ = ["McpConnection", "McpSession", "open_session"]
