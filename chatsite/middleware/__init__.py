"""Middleware of all requests and sockets: health, security headers, NUL in URLs, the `Origin` of sockets.

What depends on the account stands beside it: `chatsite.accounts.access_middleware`, `.sessions`, `.preferences`.
"""
