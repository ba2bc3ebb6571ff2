"""Choose the recalled passages that fit: by falling score, whatever fits.

A first choice is made on the tokens that were counted when messages were indexed, which may be in another encoding; the
block is then counted as it will be sent, made smaller if it has to be, and filled up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from conversations.core.prompt.grounding_text import QUESTION_HEADER, RECALL_HEADER, RecalledPiece, render_recalled
from conversations.core.recall.recalled_passage import RecalledPassage

from .budget import CountText

HEAD_TOKENS = 4  # an initial, a colon, the end of the line, and often the mark of a cut
DAY_TOKENS = 5
MOST_TRIES = 12  # to fill what is left once the block has been counted
BEFORE_THE_QUESTION = f"\n\n{QUESTION_HEADER}\n"
Render = Callable[[Sequence[RecalledPiece]], str]


@dataclass(frozen=True, slots=True)
class PackedRecall:
    """*text* is the newest message with what is recalled, *tokens* of at most *limit_tokens* what that adds to it.

    *included* and *left_out* are best first.
    """

    text: str
    tokens: int = 0
    limit_tokens: int = 0
    included: tuple[RecalledPassage, ...] = ()
    left_out: tuple[RecalledPassage, ...] = ()


def piece_of(passage: RecalledPassage) -> RecalledPiece:
    """Return *passage* as a prompt shows it."""
    return RecalledPiece(
        position=passage.position,
        start=passage.start,
        end=passage.end,
        at=passage.at.isoformat(),
        role=passage.role,
        text=passage.text,
        is_whole=passage.is_whole,
        name=passage.name,
        conversation=passage.conversation,
    )


def pack_recall(
    bare: str, passages: Sequence[RecalledPassage], *, render: Render, limit_tokens: int, count_text: CountText
) -> PackedRecall:
    """Return *bare*, the newest message without recall, with as many of *passages* as add at most *limit_tokens*.

    *passages* are best first, none of them in the window otherwise; of those that overlap or say the same, the best is
    taken. *render* returns the message with what is recalled.
    """
    if not passages:  # the message's tokens are known: it is not counted again
        return PackedRecall(bare, limit_tokens=limit_tokens)
    different = list(_different(passages))
    block_tokens = limit_tokens - count_text(BEFORE_THE_QUESTION)
    ranks = _Packing(different, block_tokens, count_text).choose()
    bare_tokens = count_text(bare)
    while ranks:
        text = render([piece_of(different[rank]) for rank in ranks])
        if (tokens := count_text(text) - bare_tokens) <= limit_tokens:
            included, taken = tuple(different[rank] for rank in ranks), set(ranks)
            left_out = (passage for rank, passage in enumerate(different) if rank not in taken)
            return PackedRecall(text, tokens, limit_tokens, included, tuple(left_out))
        ranks = ranks[:-1]
    return PackedRecall(bare, limit_tokens=limit_tokens, left_out=tuple(different))


def _different(passages: Iterable[RecalledPassage]) -> Iterator[RecalledPassage]:
    """Yield *passages* without those that overlap with a better one, or say what one of the same speaker says.

    What is blank is none: in the block it would be a blank line, which ends it.
    """
    said: set[tuple[str, str]] = set()
    taken: dict[int, list[RecalledPassage]] = {}
    for passage in passages:
        same = taken.setdefault(passage.message, [])
        overlaps = any(passage.start < other.end and other.start < passage.end for other in same)
        if passage.text.strip() and not overlaps and (passage.role, passage.text) not in said:
            said.add((passage.role, passage.text))
            same.append(passage)
            yield passage


@dataclass(frozen=True, slots=True)
class _Packing:
    """The choice among *passages*, by their ranks from 0: a block that, counted by itself, takes *limit_tokens*."""

    passages: Sequence[RecalledPassage]
    limit_tokens: int
    count_text: CountText

    def choose(self) -> list[int]:
        """Return the ranks of those that fit, best first."""
        ranks = self._estimated(self.limit_tokens - self.count_text(RECALL_HEADER))
        while ranks and (tokens := self._tokens(ranks)) > self.limit_tokens:
            ranks = ranks[: -max(1, (tokens - self.limit_tokens) * len(ranks) // tokens)]
        return self._filled(ranks)

    def _estimated(self, left_tokens: int) -> list[int]:
        ranks, headings = [], set()
        for rank, passage in enumerate(self.passages):
            heading = (passage.at.date(), passage.conversation)
            tokens = passage.tokens + HEAD_TOKENS + (0 if heading in headings else DAY_TOKENS)
            if tokens <= left_tokens:
                ranks.append(rank)
                headings.add(heading)
                left_tokens -= tokens
        return ranks

    def _filled(self, ranks: list[int]) -> list[int]:
        """Return *ranks* with the best of the others that fit into what is left; only a few are tried."""
        left_tokens = self.limit_tokens - self._tokens(ranks)
        taken = set(ranks)
        others = (rank for rank in range(len(self.passages)) if rank not in taken)
        smaller = (rank for rank in others if self.passages[rank].tokens < left_tokens)
        for rank in islice(smaller, MOST_TRIES):
            more = [*ranks, rank]
            if (tokens := self._tokens(more)) <= self.limit_tokens:
                ranks, left_tokens = more, self.limit_tokens - tokens
        return sorted(ranks)

    def _tokens(self, ranks: Iterable[int]) -> int:
        return self.count_text(render_recalled(piece_of(self.passages[rank]) for rank in ranks))
