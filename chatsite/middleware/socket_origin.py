"""Origin check of WebSockets: only the site's own pages may open one."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import OriginValidator, WebsocketDenier


class SiteOriginValidator(OriginValidator):  # type: ignore[misc]  # channels has no types
    """Denies a socket whose `Origin` is not a URL; Channels' own validator raises at it."""

    def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> Awaitable[None]:
        answer = super().__call__ if _is_origin_a_url(scope) else WebsocketDenier()
        return answer(scope, receive, send)  # type: ignore[no-any-return]  # which lasts as long as the socket


def _is_origin_a_url(scope: dict[str, Any]) -> bool:
    try:
        for name, value in scope["headers"]:
            if name == b"origin":
                urlsplit(value.decode("latin-1")).port  # noqa: B018  # reading the port raises
    except ValueError:
        return False
    return True
