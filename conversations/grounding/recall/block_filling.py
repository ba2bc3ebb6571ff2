"""Read of the best messages only as many as fill a block of so many tokens: each that is read costs time.

About how many tokens of a message would be sent is known before it is read. The same choice that fills the block is
made on these figures, with a margin; only what it takes is read, and more where that said the same twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from conversations.core.recall.rank_candidates import RankedMessage
from conversations.core.recall.recalled_passage import RecalledPassage

from .candidate_rows import CandidateRow

# More is read than the block takes: the figures are estimates, and short messages are tried to fill its end.
MARGIN = 1.25
MARGIN_TOKENS = 350
HEAD_TOKENS = 6  # an initial, a colon, the end of the line, and a share of the day above it
GIANT_TOKENS = 2_000

RankedRow = tuple[RankedMessage, CandidateRow]


def read_to_fill(
    ranked: Sequence[RankedRow],
    *,
    limit_tokens: int | None,
    read: Callable[[Sequence[RankedRow]], list[RecalledPassage]],
) -> list[RecalledPassage]:
    """Return what *read* returns of the messages, best first, that fill *limit_tokens*; of all where that is None."""
    if limit_tokens is None:
        return read(ranked)
    found: list[RecalledPassage] = []
    room_tokens, rest, patience = MARGIN * limit_tokens + MARGIN_TOKENS, list(ranked), 1
    left_tokens = room_tokens
    while left_tokens >= MARGIN_TOKENS / 2:
        taken = _fitting(rest, patience * left_tokens, limit_tokens)
        if not found:  # without the margin others may fit
            taken |= _fitting(rest, limit_tokens, limit_tokens)
        if not taken:
            break
        found += read([rest[index] for index in sorted(taken)])
        rest = [each for index, each in enumerate(rest) if index not in taken]
        left_tokens = room_tokens - _tokens_of_different(found)
        patience *= 2  # where the same is said again and again: a few statements, whatever is stored
    return sorted(found, key=lambda each: (each.score, each.message), reverse=True)


def _fitting(ranked: Sequence[RankedRow], left_tokens: float, limit_tokens: int) -> dict[int, None]:
    """Return the places of those that fit into *left_tokens*, best first, as their rows say."""
    taken: dict[int, None] = {}
    for index, (_, row) in enumerate(ranked):
        tokens = sent_tokens(row) + HEAD_TOKENS
        if tokens <= min(left_tokens, limit_tokens):
            taken[index] = None
            left_tokens -= tokens
    return taken


def _tokens_of_different(found: Sequence[RecalledPassage]) -> float:
    return sum({(each.role, each.text): each.tokens + HEAD_TOKENS for each in found}.values())


def sent_tokens(row: CandidateRow) -> float:
    """Return about how many tokens of a message would be sent."""
    if is_giant(row):
        return row.tokens / row.passages
    return row.tokens / 2 if is_long(row) else row.tokens


def is_long(row: CandidateRow) -> bool:
    return row.passages > 1


def is_giant(row: CandidateRow, giant_tokens: int = GIANT_TOKENS) -> bool:
    return is_long(row) and row.tokens > giant_tokens
