"""How a reader of one kind of file is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from conversations.core.documents.splitting import Block
from conversations.parsing.parsed import Unread

Report = Callable[[int, int], None]
"""Tells how far a reader is: so many of so many, of whatever it counts."""

Read = Callable[[Report], Iterator[Block | Unread]]
"""Yields the blocks of the document that it was made for, and maybe once what it does not read of it.

Raises a `DocumentError`, or what its parser raises.
"""
