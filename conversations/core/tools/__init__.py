"""Tool specifications and their schemas, without any tool."""
