"""Candidates of a search: passages of messages that have a lexeme of each term, by the postings.

terms ─▶ conversations that have all of them ─▶ their postings ─▶ ordinals of passages, newest first
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from conversations.models.message_postings import BEGINS_MESSAGE, BEGINS_SESSION, CHUNK_PASSAGES, EVERY_PASSAGE

from .fetch_rows import fetch_rows
from .search_filters import ORDER, OWN

FIRST_CONVERSATIONS, MORE_CONVERSATIONS = 25, 250  # whose postings are read at once
ENTRY_BYTES = 4
FIRST_OF_MESSAGE = bytes([BEGINS_MESSAGE, BEGINS_MESSAGE | BEGINS_SESSION])  # flags
FAR_AWAY = dt.datetime(9999, 1, 1, tzinfo=dt.UTC)

# Those that have a lexeme of each term.
HAVING_ALL = f"""
SELECT conversation.id FROM (
  SELECT posting.conversation_id FROM unnest(%(lexemes)s::text[], %(terms)s::bigint[]) AS asked (lexeme, term)
  JOIN conversations_messagepostings posting ON posting.owner_id = %(owner)s AND posting.lexeme = asked.lexeme
  GROUP BY posting.conversation_id HAVING bit_or(asked.term) = %(all_terms)s
) AS found JOIN conversations_conversation conversation ON conversation.id = found.conversation_id
WHERE {OWN} ORDER BY {ORDER}
"""  # noqa: S608  # constants of ours
IN_ONE = f"SELECT conversation.id FROM conversations_conversation conversation WHERE {OWN}"  # noqa: S608
# OFFSET 0 has each conversation's own looked up: a join may read those that all users have of a lexeme.
POSTINGS = """
SELECT sought.id, posting.lexeme, posting.chunk, posting.entries
FROM unnest(%(conversations)s::bigint[]) AS sought (id)
CROSS JOIN LATERAL (
  SELECT lexeme, chunk, entries FROM conversations_messagepostings
  WHERE conversation_id = sought.id AND lexeme = ANY(%(lexemes)s::text[]) OFFSET 0
) AS posting
"""
# Messages are added in the order of their time, so a span of days is a span of ordinals.
IN_TIME = """
SELECT sought.id, coalesce((
  SELECT ordinal FROM conversations_messagepassage
  WHERE conversation_id = sought.id AND at >= %(after)s ORDER BY at, ordinal LIMIT 1
), 2147483647), coalesce((
  SELECT ordinal FROM conversations_messagepassage
  WHERE conversation_id = sought.id AND at < %(before)s ORDER BY at DESC, ordinal DESC LIMIT 1
), -1)
FROM unnest(%(conversations)s::bigint[]) AS sought (id)
"""


class CandidateMessage(NamedTuple):
    """A passage of a message that has all terms."""

    conversation: int
    ordinal: int


class ConversationCandidates(NamedTuple):
    """The passages of a conversation, newest first."""

    conversation: int
    ordinals: list[int]

    def messages(self, start: int = 0, stop: int | None = None) -> Iterator[CandidateMessage]:
        return (CandidateMessage(self.conversation, ordinal) for ordinal in self.ordinals[start:stop])


def read_conversation_candidates(
    filters: Mapping[str, Any], asked: Sequence[set[str]]
) -> Iterator[ConversationCandidates]:
    """Yield the conversations, best first, with a passage of each message that has one of the lexemes of each term."""
    terms: dict[str, int] = {}
    for number, lexemes in enumerate(asked):
        for lexeme in lexemes:
            terms[lexeme] = terms.get(lexeme, 0) | 1 << number
    columns = {"lexemes": list(terms), "terms": list(terms.values()), "all_terms": (1 << len(asked)) - 1}
    statement = HAVING_ALL if filters["conversation"] is None else IN_ONE
    conversations = [row[0] for row in fetch_rows(statement, {**filters, **columns})]
    sought = [*terms, EVERY_PASSAGE] if len(asked) > 1 else list(terms)
    for batch in _batches(conversations):
        spans = _spans_in_time(filters, batch)
        by_conversation: dict[int, list[tuple[int, int, bytes]]] = {each: [] for each in batch}
        for conversation, lexeme, chunk, entries in fetch_rows(
            POSTINGS, {"conversations": list(batch), "lexemes": sought}
        ):
            by_conversation[conversation].append((terms.get(lexeme, 0), chunk, entries))
        for conversation, postings in by_conversation.items():
            first, last = spans.get(conversation, (0, None))
            ordinals = _ordinals_with_all(postings, len(asked))
            if first or last is not None:
                ordinals = [each for each in ordinals if each >= first and (last is None or each <= last)]
            if ordinals:
                yield ConversationCandidates(conversation, ordinals)


def _batches(conversations: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield the conversations: a few, which mostly have enough, then many at once."""
    if conversations:
        yield conversations[:FIRST_CONVERSATIONS]
    for start in range(FIRST_CONVERSATIONS, len(conversations), MORE_CONVERSATIONS):
        yield conversations[start : start + MORE_CONVERSATIONS]


def _spans_in_time(filters: Mapping[str, Any], conversations: Sequence[int]) -> dict[int, tuple[int, int]]:
    after, before = filters["after"], filters["before"]
    if after is None and before is None:
        return {}
    ends = {"after": after or dt.datetime.min.replace(tzinfo=dt.UTC), "before": before or FAR_AWAY}
    rows = fetch_rows(IN_TIME, {"conversations": list(conversations), **ends})
    return {conversation: (first, last) for conversation, first, last in rows}


def _ordinals_with_all(postings: Iterable[tuple[int, int, bytes]], terms: int) -> list[int]:
    """Return the ordinals, newest first, of one passage of each message that has all *terms*.

    Each posting with the bits of the terms that its lexeme may mean, none for the one that tells the shape.
    """
    by_term: list[set[int]] = [set() for _ in range(terms)]
    flags: dict[int, bytes] = {}
    for bits, chunk, entries in postings:
        if not bits:
            flags[chunk] = bytes(entries)[2::ENTRY_BYTES]
            continue
        places = memoryview(entries).cast("B").cast("H")[::2].tolist()
        ordinals = [chunk * CHUNK_PASSAGES + place for place in places] if chunk else places
        for number in range(terms):
            if bits >> number & 1:
                by_term[number].update(ordinals)
    if not all(by_term):
        return []
    shape = b"".join(flags[chunk] for chunk in sorted(flags))
    if terms == 1 or not shape.translate(None, delete=FIRST_OF_MESSAGE):  # each passage is a message
        return sorted(by_term[0].intersection(*by_term[1:]), reverse=True)
    message_of = list(accumulate(flag & BEGINS_MESSAGE for flag in shape))
    passages = [{message_of[ordinal]: ordinal for ordinal in sorted(each)} for each in by_term]
    common = set(passages[0]).intersection(*passages[1:])
    return sorted((passages[0][message] for message in common), reverse=True)
