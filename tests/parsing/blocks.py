"""Reads files without a child process, for tests of the readers."""

from __future__ import annotations

from conversations.core.splitting import Block
from conversations.parsing.kinds import open_document


def blocks_of(content: bytes | str, name: str = "file") -> list[Block]:
    content = content.encode() if isinstance(content, str) else content
    _, read = open_document(content, name=name)
    return list(read(lambda done, of: None))


def texts_of(content: bytes | str, name: str = "file") -> list[str]:
    return [block.text for block in blocks_of(content, name)]
