"""The parent's side of reading a document."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from conversations.parsing.parsed import Parsed, ParsingLimits


async def parse_document(
    content: bytes, *, name: str, encoding: str, limits: ParsingLimits
) -> AsyncGenerator[Parsed, None]:
    """Read a file in a child process: its kind first, then passages and progress, in order.

    *name* is only a hint between kinds of plain text. *encoding* is the one that tokens are counted in. Raises a
    `DocumentError`, maybe after some passages. Closing the generator ends the child.
    """
    raise NotImplementedError
    yield
