"""Answers whose connection broke: what had come before the break is read, and the break is told after it.

aiohttp throws away what it has not given out yet. A stream that is read in turns would lose the text of its last turn.
"""

from __future__ import annotations

from typing import Any

import aiohttp


class KeptReader(aiohttp.StreamReader):
    """A reader that gives out what it holds before it raises what ended it, and all at once where all is asked for."""

    __slots__ = ()

    async def read(self, n: int = -1) -> bytes:
        if self._exception is not None and self._buffer and n:
            return self._read_nowait(n)
        return await super().read(n)

    def _read_nowait(self, n: int) -> bytes:
        if len(self._buffer) > 1 and self._size <= n:  # aiohttp looks for more to parse after each that it gives out
            together = b"".join(self._buffer)
            self._buffer.clear()
            self._buffer.append(together)
        return super()._read_nowait(n)


class KeptResponse(aiohttp.ClientResponse):
    """A response that is read by a `KeptReader`."""

    async def start(self, connection: Any) -> aiohttp.ClientResponse:
        started = await super().start(connection)
        if type(self.content) is aiohttp.StreamReader:  # of a response without a body it is another one
            self.content.__class__ = KeptReader
        return started
