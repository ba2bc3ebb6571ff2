"""The indexed passages of a conversation, or of several of a user one after the other, as one look-up counts them.

    other conversations, the one last talked in at the end          the one that is asked in
    0 1 2 … | 0 1 2 3 …                                             | 0 1 2 …                 ordinals in their indexes
    0 1 2 … | 7 8 9 10 …                                            | 52 53 54 …              ordinals in the look-up

So words are as rare, and scores as high, as they are in all of them together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

NO_POSITION = 2**31 - 1


class IndexedPart(NamedTuple):
    """The first *passages* of a conversation's index, whose ordinals in the look-up begin at *offset*.

    Messages before *before_position* may be found. It *is_other* unless it is the one that is asked in.
    """

    conversation_id: int
    offset: int
    passages: int
    before_position: int = NO_POSITION
    is_other: bool = False

    @property
    def stop(self) -> int:
        return self.offset + self.passages


@dataclass(frozen=True, slots=True)
class IndexedPassages:
    """The *parts*, in the order of their offsets. A method's ordinals are those of the look-up."""

    parts: tuple[IndexedPart, ...]

    @property
    def passages(self) -> int:
        return self.parts[-1].stop if self.parts else 0

    @property
    def conversation_ids(self) -> list[int]:
        return [part.conversation_id for part in self.parts]

    def split(self, ordinals: Iterable[int]) -> Iterator[tuple[IndexedPart, list[int]]]:
        """Yield each part that has some of *ordinals*, with these as its index has them."""
        wanted = list(ordinals)
        for part in self.parts:
            if inside := [ordinal - part.offset for ordinal in wanted if part.offset <= ordinal < part.stop]:
                yield part, inside

    def first(self, passages: int) -> Iterator[tuple[IndexedPart, int]]:
        """Yield the parts that hold the first *passages*, each with how many of them it holds."""
        for part in self.parts:
            if part.offset < passages:
                yield part, min(part.passages, passages - part.offset)
