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
DAY_TOKENS = 8
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
        day=passage.at.date().isoformat(),
        role=passage.role,
        text=passage.text,
        is_whole=passage.is_whole,
        name=passage.name,
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
    chosen = _chosen(different, block_tokens, count_text)
    bare_tokens = count_text(bare)
    while chosen:
        text = render([piece_of(passage) for passage in chosen])
        if (tokens := count_text(text) - bare_tokens) <= limit_tokens:
            left_out = tuple(passage for passage in different if passage not in chosen)
            return PackedRecall(text, tokens, limit_tokens, tuple(chosen), left_out)
        chosen = chosen[:-1]
    return PackedRecall(bare, limit_tokens=limit_tokens, left_out=tuple(different))


def _different(passages: Iterable[RecalledPassage]) -> Iterator[RecalledPassage]:
    """Yield *passages* without those that overlap with a better one, or say what one of the same speaker says."""
    said: set[tuple[str, str]] = set()
    taken: dict[int, list[RecalledPassage]] = {}
    for passage in passages:
        same = taken.setdefault(passage.position, [])
        overlaps = any(passage.start < other.end and other.start < passage.end for other in same)
        if not overlaps and (passage.role, passage.text) not in said:
            said.add((passage.role, passage.text))
            same.append(passage)
            yield passage


def _chosen(passages: Sequence[RecalledPassage], limit_tokens: int, count_text: CountText) -> list[RecalledPassage]:
    """Return those of *passages* whose block, counted by itself, has at most *limit_tokens*; best first."""
    chosen = _estimated(passages, limit_tokens - count_text(RECALL_HEADER))
    while chosen and (tokens := _block_tokens(chosen, count_text)) > limit_tokens:
        chosen = chosen[: -max(1, (tokens - limit_tokens) * len(chosen) // tokens)]
    return _filled(chosen, passages, limit_tokens, count_text)


def _estimated(passages: Iterable[RecalledPassage], left_tokens: int) -> list[RecalledPassage]:
    chosen, days = [], set()
    for passage in passages:
        day = passage.at.date()
        tokens = passage.tokens + HEAD_TOKENS + (0 if day in days else DAY_TOKENS)
        if tokens <= left_tokens:
            chosen.append(passage)
            days.add(day)
            left_tokens -= tokens
    return chosen


def _filled(
    chosen: list[RecalledPassage], passages: Sequence[RecalledPassage], limit_tokens: int, count_text: CountText
) -> list[RecalledPassage]:
    """Return *chosen* with the best of the others that fit into what is left; only a few are tried."""
    left_tokens = limit_tokens - _block_tokens(chosen, count_text)
    others = (passage for passage in passages if passage.tokens < left_tokens and passage not in chosen)
    for passage in islice(others, MOST_TRIES):
        more = [*chosen, passage]
        if (tokens := _block_tokens(more, count_text)) <= limit_tokens:
            chosen, left_tokens = more, limit_tokens - tokens
    return [passage for passage in passages if passage in chosen]


def _block_tokens(passages: Iterable[RecalledPassage], count_text: CountText) -> int:
    return count_text(render_recalled(map(piece_of, passages)))
