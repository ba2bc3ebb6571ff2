"""Read what is recalled of each message: a short one whole, of a longer one an excerpt, of a giant one a passage."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from conversations.core.recall.best_excerpt import WeighedWord, best_excerpt
from conversations.core.recall.rank_candidates import RankedMessage
from conversations.core.recall.recalled_passage import RecalledPassage
from conversations.core.window.budget import CountText

from .block_filling import GIANT_TOKENS, RankedRow, is_giant, is_long
from .candidate_rows import CandidateRow, LexicalPassage, match_lexemes, read_passages, read_texts
from .indexed_passages import IndexedPassages


@dataclass(slots=True)
class _Part:
    """The part of a message, from *start* to *end*, that is read; in it are *passages* if an excerpt is to be taken."""

    ranked: RankedMessage
    row: CandidateRow
    start: int
    end: int
    passages: list[LexicalPassage] = field(default_factory=list)


def read_excerpts(
    ranked: Sequence[RankedRow],
    *,
    index: IndexedPassages,
    weights: Mapping[str, float],
    best_passage: Callable[[CandidateRow], int],
    giant_tokens: int = GIANT_TOKENS,
    count_text: CountText,
    zone: dt.tzinfo | None,
) -> list[RecalledPassage]:
    """Return what is recalled of the *ranked* messages, in their order; none of a message that is gone.

    *weights* are those of the question's lexemes. *best_passage* tells the ordinal of a message's best passage, which
    is all that is read of a message of several passages above *giant_tokens*. Times are in *zone*.
    """
    wanted = {
        row.message: [best_passage(row)] if is_giant(row, giant_tokens) else range(row.first, row.first + row.passages)
        for _, row in ranked
        if is_long(row)
    }
    passages = read_passages(index, [ordinal for ordinals in wanted.values() for ordinal in ordinals])
    parts = [
        _part(each, row, [passages[ordinal] for ordinal in wanted.get(row.message, ()) if ordinal in passages])
        for each, row in ranked
    ]
    texts = read_texts([(part.row.message, part.start, part.end) for part in parts])
    lexemes = match_lexemes(weights)
    return [
        _recalled(part, texts[part.row.message], lexemes, weights, count_text, zone)
        for part in parts
        if part.row.message in texts
    ]


def _part(ranked: RankedMessage, row: CandidateRow, passages: list[LexicalPassage]) -> _Part:
    if not passages:
        return _Part(ranked, row, row.start, row.end)
    start, end = min(each.start for each in passages), max(each.end for each in passages)
    return _Part(ranked, row, start, end, passages if len(passages) > 1 else [])


def _recalled(
    part: _Part,
    text: str,
    lexemes: re.Pattern[str],
    weights: Mapping[str, float],
    count_text: CountText,
    zone: dt.tzinfo | None,
) -> RecalledPassage:
    start, end = 0, len(text)
    if part.passages:
        start, end = best_excerpt(text, list(_weighed_words(part, lexemes, weights)))
    row, is_whole = part.row, (part.start + start, part.start + end) == (part.row.start, part.row.end)
    return RecalledPassage(
        message=row.message,
        position=row.position,
        role=row.role,
        name=row.name or None,
        text=text[start:end],
        start=part.start + start,
        end=part.start + end,
        is_whole=is_whole,
        tokens=row.tokens if is_whole and not is_long(row) else count_text(text[start:end]),
        session=row.session,
        at=row.at.astimezone(zone),
        score=part.ranked.score,
        why=part.ranked.why,
        conversation=row.conversation,
    )


def _weighed_words(part: _Part, lexemes: re.Pattern[str], weights: Mapping[str, float]) -> Iterator[WeighedWord]:
    """Yield the words of the question in the part, in their order, about where they are: by their number."""
    for passage in part.passages:
        found = passage.places(lexemes)
        characters = (passage.end - passage.start) / passage.all_words
        for place, lexeme in found:
            yield WeighedWord(passage.start - part.start + int((place - 0.5) * characters), weights[lexeme])
