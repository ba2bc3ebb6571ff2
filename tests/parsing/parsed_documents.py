"""Reads documents as the site does, for tests."""

from __future__ import annotations

from contextlib import aclosing

from conversations.parsing import KindFound, Parsed, ParsedPassage, ParsingLimits, Progress, parse_document

LIMITS = ParsingLimits(seconds=300, memory_megabytes=1024)
ENCODING = "o200k_base"


async def parse_all(content: bytes, name: str = "file", *, limits: ParsingLimits = LIMITS) -> list[Parsed]:
    async with aclosing(parse_document(content, name=name, encoding=ENCODING, limits=limits)) as parsed:
        return [piece async for piece in parsed]


async def kind_of(content: bytes, name: str = "file") -> str:
    return next(piece.kind for piece in await parse_all(content, name) if isinstance(piece, KindFound))


async def passages_of(content: bytes, name: str = "file") -> list[ParsedPassage]:
    return [piece for piece in await parse_all(content, name) if isinstance(piece, ParsedPassage)]


async def percents_of(content: bytes, name: str = "file") -> list[int]:
    return [piece.percent for piece in await parse_all(content, name) if isinstance(piece, Progress)]
