"""Tools that language models call: built-in ones, the site's own functions, and those of MCP servers.

Begin with `toolbox`; a new Python tool is declared with the decorator of `registry`.
"""
