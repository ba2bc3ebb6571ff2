"""The text of an answer that is streamed."""

from __future__ import annotations

from asgiref.sync import async_to_sync


def streamed_text(response) -> str:
    async def collect() -> bytes:
        return b"".join([piece async for piece in response])

    return async_to_sync(collect)().decode("utf-8-sig")
