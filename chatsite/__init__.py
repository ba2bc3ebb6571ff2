"""Wiring of the site: settings, URLs, ASGI, middleware; and the apps `accounts` and `postgres`."""
