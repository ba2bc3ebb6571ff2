"""The indexed passages of a conversation, or of several of a user one after the other, as one look-up counts them.

    other conversations, the one last talked in at the end          the one that is asked in
    0 1 2 … | 0 1 2 3 …                                             | 0 1 2 …                 ordinals in their indexes
    0 1 2 … | 7 8 9 10 …                                            | 52 53 54 …              ordinals in the look-up

So words are as rare, and scores as high, as they are in all of them together. Of a very large conversation only some
chunks of its index are looked in, as if there were no others (`likely_chunks`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from conversations.models.message_postings import CHUNK_PASSAGES

NO_POSITION = 2**31 - 1


class IndexedPart(NamedTuple):
    """*passages* of a conversation's index, the first ones, whose ordinals in the look-up begin at *offset*.

    Messages before *before_position* may be found. It *is_other* unless it is the one that is asked in. With *chunks*,
    ascending numbers, the passages are those of these chunks alone, all of which are full but the last of the index.
    """

    conversation_id: int
    offset: int
    passages: int
    before_position: int = NO_POSITION
    is_other: bool = False
    chunks: Sequence[int] | None = None

    @property
    def stop(self) -> int:
        return self.offset + self.passages

    def in_index(self, ordinal: int) -> int:
        """Return the ordinal in the conversation's index of one in the look-up."""
        inside = ordinal - self.offset
        if self.chunks is None:
            return inside
        return self.chunks[inside // CHUNK_PASSAGES] * CHUNK_PASSAGES + inside % CHUNK_PASSAGES

    def in_look_up(self, ordinal: int) -> int | None:
        """Return the ordinal in the look-up of one in the conversation's index, None where that is not looked in."""
        rank = self.rank_of_chunk(ordinal // CHUNK_PASSAGES)
        if rank is None or (inside := rank * CHUNK_PASSAGES + ordinal % CHUNK_PASSAGES) >= self.passages:
            return None
        return self.offset + inside

    def rank_of_chunk(self, chunk: int) -> int | None:
        """Return how many chunks are looked in before this one; None where it is not looked in."""
        if self.chunks is None:
            return chunk
        rank = bisect_left(self.chunks, chunk)
        return rank if rank < len(self.chunks) and self.chunks[rank] == chunk else None

    def of_chunks(self, chunks: Sequence[int], *, offset: int) -> IndexedPart:
        """Return the part of this one, which has all chunks, in these; its ordinals begin at *offset*."""
        ends = (min((chunk + 1) * CHUNK_PASSAGES, self.passages) for chunk in chunks)
        passages = sum(end - chunk * CHUNK_PASSAGES for chunk, end in zip(chunks, ends, strict=True))
        return self._replace(offset=offset, passages=passages, chunks=tuple(chunks))


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
            if inside := [part.in_index(ordinal) for ordinal in wanted if part.offset <= ordinal < part.stop]:
                yield part, inside

    def first(self, passages: int) -> Iterator[tuple[IndexedPart, int]]:
        """Yield the parts that hold the first *passages*, each with the ordinal in its index before which they are."""
        for part in self.parts:
            if part.offset < passages:
                yield part, part.in_index(min(part.stop, passages) - 1) + 1
