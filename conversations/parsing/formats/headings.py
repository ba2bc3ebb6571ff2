"""The path of headings above each block of a document."""

from __future__ import annotations

from collections.abc import Iterator

from conversations.core.documents.splitting import Block

LONGEST_CHARACTERS = 200  # anything longer is a paragraph formatted as a heading


class Headings:
    """Makes the blocks of a document from its beginning on, each under its headings."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []
        self._bare = False

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(title for _, title in self._open)

    def enter(self, level: int, title: str) -> Iterator[Block]:
        """Begin a section; 1 is the outermost level. Yield what would be lost: a heading with nothing under it."""
        title = " ".join(title.split())
        if not title:
            return
        if len(title) > LONGEST_CHARACTERS:
            yield self.block(title)
            return
        if self._bare and self._open[-1][0] >= level:
            yield from self.leave()
        self._open = [(outer, name) for outer, name in self._open if outer < level]
        self._open.append((level, title))
        self._bare = True

    def block(self, text: str, *, lines: bool = False) -> Block:
        self._bare = False
        return Block(text, self.path, lines=lines)

    def leave(self) -> Iterator[Block]:
        """Yield what would be lost at the end of the document."""
        if self._bare:
            yield Block(self.path[-1], self.path[:-1])
        self._bare = False
