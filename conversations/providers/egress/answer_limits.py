"""Limits of a provider's answer that is streamed: it is not compressed, and of an error only the beginning is read.

A small answer that is compressed may become a huge one, and an error is read whole before it is known what it says.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final, cast

import httpx2

MOST_ERROR_BYTES: Final = 64 * 1024
PLAIN_HEADERS: Final = {"accept-encoding": "identity"}


class AnswerCompressed(ValueError):
    """An answer is compressed, though the request asked for a plain one."""


async def limit_answer(response: httpx2.Response) -> None:
    """Bound what is read of *response*, as soon as its head has come. Raises `AnswerCompressed`.

    The status of an error says more than that it is compressed: then nothing of its body is read.
    """
    is_plain = response.headers.get("content-encoding", "identity").strip().lower() == "identity"
    if not response.is_success:
        response.headers.pop("content-encoding", None)
        response.stream = _Beginning(response, most_bytes=MOST_ERROR_BYTES if is_plain else 0)
    elif not is_plain:
        raise AnswerCompressed("it sent a compressed answer, which was not asked for")


class _Beginning(httpx2.AsyncByteStream):
    """The first *most_bytes* of the body of *response*."""

    def __init__(self, response: httpx2.Response, *, most_bytes: int) -> None:
        self._stream = cast(httpx2.AsyncByteStream, response.stream)
        self._most_bytes = most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._most_bytes
        if left:
            async for piece in self._stream:
                yield piece[:left]
                left -= len(piece)
                if left <= 0:
                    return

    async def aclose(self) -> None:
        await self._stream.aclose()
