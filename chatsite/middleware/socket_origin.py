"""Sockets are for the site's own pages: a browser says with `Origin` whose page opens one."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import OriginValidator, WebsocketDenier


class SiteOriginValidator(OriginValidator):  # type: ignore[misc]
    """Channels' validator raises at an `Origin` that is no address; here it is just not the site's."""

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        answer = super().__call__ if _origin_is_an_address(scope) else WebsocketDenier()
        await answer(scope, receive, send)


def _origin_is_an_address(scope: dict[str, Any]) -> bool:
    try:
        for name, value in scope["headers"]:
            if name == b"origin":
                urlsplit(value.decode("latin-1")).port  # noqa: B018  # reading it is what raises
    except ValueError:
        return False
    return True
