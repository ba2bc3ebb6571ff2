"""Find messages: those of a user's conversations that have some words, newest first, with the words around them.

    terms ─▶ conversations that have all of them ─▶ passages, conversation by conversation ─▶ their messages, as they
    are now ─▶ checked on the text ─▶ hits

By the index of messages that recall uses, which covers the active path, and what is not indexed yet is looked through.
All of it is the owner's: also what is excluded, never recalled or forgotten. What is deleted or temporary is not found.
What has exactly the words is found first; compounds and, where nothing else is found, words with a typo, after it.
"""

from __future__ import annotations

import datetime as dt
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from typing import Any, NamedTuple

from django.db import connection

from conversations.core.errors import LookUpTooCostly
from conversations.core.text.search_query import SearchQuery
from conversations.grounding.bounded_query import time_limit
from conversations.models.message_postings import BEGINS_MESSAGE, CHUNK_PASSAGES, EVERY_PASSAGE

from .found_text import FoundText, MarkedPiece, mark_parts
from .search_terms import SearchTerms, add_compounds, add_typos, read_terms

MOST_HITS = 50
MOST_SECONDS = 2.0  # of one search, between its statements
FIRST_CONVERSATIONS, MORE_CONVERSATIONS = 25, 250  # whose postings are read at once
CANDIDATES_AT_ONCE = 200
MOST_CANDIDATES = 20_000
MOST_NEW_CONVERSATIONS, MOST_NEW_MESSAGES = 50, 500  # that are not indexed yet
MOST_LOOKED_THROUGH = 2_000  # newest messages, for words that are in no index
ENTRY_BYTES = 4

# Needs a row `conversation`.
OWN = """
conversation.owner_id = %(owner)s AND conversation.deleted_at IS NULL
AND (conversation.temporary_until IS NULL OR conversation.id = %(conversation)s)
AND (%(conversation)s::bigint IS NULL OR conversation.id = %(conversation)s)
AND (%(besides)s::bigint IS NULL OR conversation.id <> %(besides)s)
AND (NOT %(is_starred)s OR conversation.starred) AND (NOT %(is_archived)s OR conversation.archived)
AND (NOT %(has_document)s OR EXISTS (
  SELECT FROM conversations_document document WHERE document.conversation_id = conversation.id))
AND NOT EXISTS (
  SELECT FROM unnest(%(places)s::text[]) AS place WHERE strpos(lower(conversation.title), place) = 0
  AND NOT EXISTS (SELECT FROM conversations_scenario scenario
    WHERE scenario.id = conversation.scenario_id AND strpos(lower(scenario.name), place) > 0))
"""
ORDER = "conversation.archived, conversation.last_active_at DESC, conversation.id DESC"
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
SELECT sought.id, asked.term, posting.chunk, posting.entries
FROM unnest(%(conversations)s::bigint[]) AS sought (id)
CROSS JOIN unnest(%(lexemes)s::text[], %(terms)s::bigint[]) AS asked (lexeme, term)
CROSS JOIN LATERAL (
  SELECT chunk, entries FROM conversations_messagepostings
  WHERE conversation_id = sought.id AND lexeme = asked.lexeme OFFSET 0
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
# Of a message that is on the path now.
WANTED = """
message.active AND message.step_of_id IS NULL AND message.role IN ('user', 'assistant') AND message.state <> 'streaming'
AND (%(role)s = '' OR message.role = %(role)s) AND (NOT %(has_picture)s OR message.picture_ids <> '{}')
AND (%(after)s::timestamptz IS NULL OR message.created_at >= %(after)s)
AND (%(before)s::timestamptz IS NULL OR message.created_at < %(before)s)
"""
COLUMNS = "message.id, message.conversation_id, message.position, message.role, message.created_at, message.content"
MESSAGES = f"""
SELECT {COLUMNS} FROM unnest(%(conversations)s::bigint[], %(ordinals)s::int[]) WITH ORDINALITY
  AS candidate (conversation_id, ordinal, rank)
JOIN conversations_messagepassage passage USING (conversation_id, ordinal)
JOIN conversations_message message ON message.id = passage.message_id
WHERE {WANTED} ORDER BY candidate.rank
"""  # noqa: S608  # constants of ours
# The messages that the index does not have as they are now.
NEW = f"""
SELECT {COLUMNS} FROM (
  SELECT conversation.id, least(coalesce(stored.next_position, 0), min(change.position)) AS position
  FROM conversations_pathchange change
  JOIN conversations_conversation conversation ON conversation.id = change.conversation_id
  LEFT JOIN conversations_messageindex stored ON stored.conversation_id = conversation.id
  WHERE {OWN} GROUP BY conversation.id, stored.next_position ORDER BY max(change.id) DESC LIMIT {MOST_NEW_CONVERSATIONS}
) AS changed CROSS JOIN LATERAL (
  SELECT * FROM conversations_message message
  WHERE message.conversation_id = changed.id AND message.position >= changed.position AND {WANTED}
  ORDER BY message.position DESC LIMIT {MOST_NEW_MESSAGES}
) AS message ORDER BY message.created_at DESC LIMIT {MOST_NEW_MESSAGES}
"""  # noqa: S608  # constants of ours
NEWEST = f"""
SELECT {COLUMNS} FROM (
  SELECT conversation.id FROM conversations_conversation conversation WHERE {OWN} ORDER BY {ORDER} LIMIT 500
) AS own CROSS JOIN LATERAL (
  SELECT * FROM conversations_message message WHERE message.conversation_id = own.id AND {WANTED}
  ORDER BY message.position DESC LIMIT {MOST_LOOKED_THROUGH}
) AS message LIMIT {MOST_LOOKED_THROUGH}
"""  # noqa: S608  # constants of ours
CONVERSATIONS = """
SELECT id, public_id, title, archived, starred FROM conversations_conversation WHERE id = ANY(%(conversations)s)
"""
TITLES = f"""
SELECT id, public_id, title, archived, starred, last_active_at FROM conversations_conversation conversation
WHERE {OWN} AND conversation.head_id IS NOT NULL AND NOT EXISTS (
  SELECT FROM unnest(%(words)s::text[]) AS word WHERE strpos(lower(conversation.title), word) = 0
) ORDER BY {ORDER} LIMIT %(most)s
"""  # noqa: S608  # constants of ours


class FoundConversation(NamedTuple):
    id: int
    public_id: uuid.UUID
    title: str
    archived: bool
    starred: bool


class FoundTitle(NamedTuple):
    """A conversation whose title has the words."""

    conversation: FoundConversation
    title: list[MarkedPiece]
    last_active_at: dt.datetime


class MessageHit(NamedTuple):
    """A hit: a message with the words around what was found, and *words*, as they stand in it."""

    conversation: FoundConversation
    message: int
    position: int
    role: str
    at: dt.datetime
    excerpt: list[MarkedPiece]
    words: set[str]


@dataclass(slots=True)
class FoundMessages:
    """Hits, best first. *has_more* if there are others; *is_partial* if only the newest ones were looked through."""

    hits: list[MessageHit] = field(default_factory=list)
    has_more: bool = False
    is_partial: bool = False


class _Row(NamedTuple):
    id: int
    conversation: int
    position: int
    role: str
    at: dt.datetime
    content: str


@dataclass(frozen=True, slots=True)
class _Search:
    """A search of the messages of an owner, in one conversation or all."""

    terms: SearchTerms
    filters: Mapping[str, Any]
    most: int
    deadline: float

    def check_time(self) -> None:
        if time.monotonic() > self.deadline:
            raise LookUpTooCostly


def find_titles(owner: int, query: SearchQuery, *, zone: dt.tzinfo, most: int) -> list[FoundTitle]:
    """Return the conversations that have all words and phrases of *query* in their titles."""
    if not (query.has_words or query.filters_conversations) or query.filters_messages:
        return []
    words = [each.lower() for each in (*query.words, *query.phrases)]
    with time_limit(plans_by_parameters=True):
        rows = _fetch(TITLES, {**_filters(owner, query, zone), "words": words, "most": most})
    return [FoundTitle(FoundConversation(*row[:5]), mark_parts(row[2], words), row[5]) for row in rows]


def find_messages(
    owner: int,
    query: SearchQuery,
    *,
    zone: dt.tzinfo,
    conversation: int | None = None,
    besides: int | None = None,
    most: int = MOST_HITS,
) -> FoundMessages:
    """Return the messages of *owner* that have what *query* asks for; days begin in *zone*.

    In one *conversation*, or in all *besides* one.
    Raises `LookUpTooCostly` where that can't be told in time.
    """
    if not (query.has_words or query.filters_messages):
        return FoundMessages()
    with time_limit(plans_by_parameters=True):
        terms = read_terms(owner, query)
        filters = _filters(owner, query, zone, conversation=conversation, besides=besides)
        search = _Search(terms, filters, most, time.monotonic() + MOST_SECONDS)
        if not terms.indexed:
            return _look_through(search, query)
        return _find_indexed(search)


def _find_indexed(search: _Search) -> FoundMessages:
    owner, terms = search.filters["owner"], search.terms.indexed
    found: dict[int, MessageHit] = {}
    _add(search, _fetch_rows(NEW, search.filters), found, wide=True)
    exact = [term.lexemes | term.shorter for term in terms]
    has_more = _take(search, exact, found, wide=False)
    if not has_more and add_compounds(owner, terms):
        has_more = _take(search, [term.lexemes | term.shorter | term.wider for term in terms], found, wide=True)
    if not found and add_typos(owner, terms):
        has_more = _take(search, [term.lexemes | term.shorter | term.wider for term in terms], found, wide=True)
    return FoundMessages(list(found.values())[: search.most], has_more or len(found) > search.most)


def _take(search: _Search, asked: Sequence[set[str]], found: dict[int, MessageHit], *, wide: bool) -> bool:
    """Add to *found* what has one of the lexemes of each term. Returns whether there would be more."""
    if not all(asked):
        return False
    lexemes = [(lexeme, 1 << number) for number, each in enumerate(asked) for lexeme in each]
    columns = {
        "lexemes": [lexeme for lexeme, _ in lexemes],
        "terms": [term for _, term in lexemes],
        "all_terms": (1 << len(asked)) - 1,
    }
    statement = HAVING_ALL if search.filters["conversation"] is None else IN_ONE
    conversations = [row[0] for row in _fetch(statement, {**search.filters, **columns})]
    seen = 0
    for batch in _batches(conversations):
        candidates = _candidates(search, batch, columns, len(asked))
        for some in _growing(candidates, search.most + 1):
            search.check_time()
            pairs = {"conversations": [each for each, _ in some], "ordinals": [ordinal for _, ordinal in some]}
            _add(search, _fetch_rows(MESSAGES, {**search.filters, **pairs}), found, wide=wide)
            seen += len(some)
            if len(found) > search.most or seen > MOST_CANDIDATES:
                return True
    return False


def _growing(candidates: Iterator[tuple[int, int]], first: int) -> Iterator[Sequence[tuple[int, int]]]:
    """Yield the candidates: as many as are shown, and then many at once."""
    size = first
    while some := list(islice(candidates, size)):
        yield some
        size = CANDIDATES_AT_ONCE


def _batches(conversations: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield the conversations: a few, which mostly have enough, then many at once."""
    if conversations:
        yield conversations[:FIRST_CONVERSATIONS]
    for start in range(FIRST_CONVERSATIONS, len(conversations), MORE_CONVERSATIONS):
        yield conversations[start : start + MORE_CONVERSATIONS]


def _candidates(
    search: _Search, conversations: Sequence[int], columns: Mapping[str, Any], terms: int
) -> Iterator[tuple[int, int]]:
    """Yield conversation and ordinal of a passage of each message that has all terms, newest first."""
    asked = {"lexemes": columns["lexemes"], "terms": columns["terms"]}
    if terms > 1:
        asked = {"lexemes": [*asked["lexemes"], EVERY_PASSAGE], "terms": [*asked["terms"], 0]}
    rows = _fetch(POSTINGS, {"conversations": list(conversations), **asked})
    spans = _spans_in_time(search, conversations)
    by_conversation: dict[int, list[tuple[int, int, bytes]]] = {each: [] for each in conversations}
    for conversation, term, chunk, entries in rows:
        by_conversation[conversation].append((term, chunk, bytes(entries)))
    for conversation, postings in by_conversation.items():
        first, last = spans.get(conversation, (0, None))
        for ordinal in _ordinals_with_all(postings, terms):
            if ordinal >= first and (last is None or ordinal <= last):
                yield conversation, ordinal


def _spans_in_time(search: _Search, conversations: Sequence[int]) -> dict[int, tuple[int, int]]:
    after, before = search.filters["after"], search.filters["before"]
    if after is None and before is None:
        return {}
    ends = {"after": after or dt.datetime.min.replace(tzinfo=dt.UTC), "before": before or FAR_AWAY}
    rows = _fetch(IN_TIME, {"conversations": list(conversations), **ends})
    return {conversation: (first, last) for conversation, first, last in rows}


FAR_AWAY = dt.datetime(9999, 1, 1, tzinfo=dt.UTC)


def _ordinals_with_all(postings: Iterable[tuple[int, int, bytes]], terms: int) -> list[int]:
    """Return the ordinals, newest first, of one passage of each message that has all *terms*."""
    by_term: dict[int, set[int]] = {}
    flags: dict[int, bytes] = {}
    for term, chunk, entries in postings:
        if term:
            places = memoryview(entries).cast("H")[::2].tolist()
            by_term.setdefault(term, set()).update(chunk * CHUNK_PASSAGES + place for place in places)
        else:
            flags[chunk] = entries[2::ENTRY_BYTES]
    if len(by_term) < terms:
        return []
    if terms == 1:
        [ordinals] = by_term.values()
        return sorted(ordinals, reverse=True)
    shape = b"".join(flags[chunk] for chunk in sorted(flags))
    message_of = list(accumulate(flag & BEGINS_MESSAGE for flag in shape))
    passages = [{message_of[ordinal]: ordinal for ordinal in sorted(each)} for each in by_term.values()]
    common = set(passages[0]).intersection(*passages[1:])
    return sorted((passages[0][message] for message in common), reverse=True)


def _add(search: _Search, rows: Sequence[_Row], found: dict[int, MessageHit], *, wide: bool) -> None:
    """Add the messages of *rows* that have all words, as their content says."""
    rows = [row for row in rows if row.id not in found]
    text = FoundText(search.terms, (row.content for row in rows), wide=wide)
    chosen = [row for row in {row.id: row for row in rows}.values() if text.has_all(row.content)]
    chosen = chosen[: search.most + 1 - len(found)] if search.most else chosen
    conversations = _conversations(row.conversation for row in chosen)
    for row in chosen:
        if conversation := conversations.get(row.conversation):
            found[row.id] = _hit(row, conversation, text)


def _hit(row: _Row, conversation: FoundConversation, text: FoundText) -> MessageHit:
    excerpt, words = text.excerpt(row.content), text.found_words(row.content)
    return MessageHit(conversation, row.id, row.position, row.role, row.at, excerpt, words)


def _look_through(search: _Search, query: SearchQuery) -> FoundMessages:
    """Look through the newest messages: for words that are in no index, and where there are filters alone."""
    typed = [each.lower() for each in (*query.words, *query.phrases)]
    search.terms.runs[:] = typed
    rows = _fetch_rows(NEWEST, search.filters)
    found: dict[int, MessageHit] = {}
    _add(search, sorted(rows, key=lambda row: row.at, reverse=True), found, wide=False)
    hits = list(found.values())
    return FoundMessages(hits[: search.most], len(hits) > search.most, is_partial=len(rows) == MOST_LOOKED_THROUGH)


def _filters(
    owner: int,
    query: SearchQuery,
    zone: dt.tzinfo,
    *,
    conversation: int | None = None,
    besides: int | None = None,
) -> dict[str, Any]:
    return {
        "owner": owner,
        "conversation": conversation,
        "besides": besides,
        "is_starred": query.is_starred,
        "is_archived": query.is_archived,
        "has_document": query.has_document,
        "has_picture": query.has_picture,
        "places": [place.lower() for place in query.places],
        "role": query.role,
        "before": _begin_of(query.before, zone),
        "after": _begin_of(query.after, zone),
    }


def _begin_of(day: dt.date | None, zone: dt.tzinfo) -> dt.datetime | None:
    return dt.datetime.combine(day, dt.time.min, tzinfo=zone) if day else None


def _conversations(ids: Iterable[int]) -> dict[int, FoundConversation]:
    rows = _fetch(CONVERSATIONS, {"conversations": list(set(ids))})
    return {row[0]: FoundConversation(*row) for row in rows}


def _fetch_rows(statement: str, parameters: Mapping[str, Any]) -> list[_Row]:
    return [_Row(*row) for row in _fetch(statement, parameters)]


def _fetch(statement: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())
