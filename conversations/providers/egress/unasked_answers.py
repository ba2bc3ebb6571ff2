"""A connector that uses no connection again on which a server has written unasked: it would answer the next request.

aiohttp looks for that only as a connection goes back to its pool. What came later, such as an answer that a gateway
wrote twice, was taken for the answer to whatever was asked next, by another user perhaps.
"""

from __future__ import annotations

from typing import Any

import aiohttp


class AskedConnector(aiohttp.TCPConnector):
    """Closes idle connections with unread bytes before one is taken."""

    async def _get(self, key: Any, traces: Any) -> Any:
        for protocol, _ in self._conns.get(key, ()):
            if protocol.should_close:
                protocol.close()  # the package passes over what is closed
        return await super()._get(key, traces)
