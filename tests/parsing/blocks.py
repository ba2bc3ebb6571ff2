"""Reads files without a child process, for tests of the readers."""

from __future__ import annotations

from conversations.core.documents.splitting import Block
from conversations.parsing.file_kinds import open_document
from conversations.parsing.parsed import SkippedParts


def blocks_of(content: bytes | str, name: str = "file") -> list[Block]:
    content = content.encode() if isinstance(content, str) else content
    _, read = open_document(content, name=name)
    return [piece for piece in read(lambda done, of: None) if isinstance(piece, Block)]


def unread_of(content: bytes, name: str = "file") -> SkippedParts:
    """Return what the reader says that it does not read."""
    _, read = open_document(content, name=name)
    [skipped] = (piece for piece in read(lambda done, of: None) if isinstance(piece, SkippedParts))
    return skipped


def texts_of(content: bytes | str, name: str = "file") -> list[str]:
    return [block.text for block in blocks_of(content, name)]
