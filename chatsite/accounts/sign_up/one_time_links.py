"""One-time links: only their hash is stored, and only the browser that opens one knows its token.

The token stands behind `#`, which browsers keep to themselves: it reaches no access log, no proxy and no Referer. The
page behind the link posts it; a right one is remembered in the session, as its hash, which is called a *grant*.
"""

from __future__ import annotations

import hashlib
import secrets

from django.conf import settings
from django.urls import reverse

TOKEN_BYTES = 32


def make_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


def build_link(route: str, token: str) -> str:
    """Return the whole address to give away: of the page named *route*, on this site."""
    return f"{settings.SITE_URL}{reverse(route)}#{token}"


def hash_token(token: str) -> str:
    """A plain hash is enough for a token that is random."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
