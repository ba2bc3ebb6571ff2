"""Search messages: those of a user's conversations that have some words, newest first, with the words around them.

    terms ─▶ candidates, by the index of messages ─▶ their messages, as they are now ─▶ checked on the text ─▶ hits

The index is the one that recall uses. It covers the active path, and what is not indexed yet is looked through.
All of it is the owner's: also what is excluded, never recalled or forgotten. What is deleted or temporary is not found.
What has exactly the words is found first; compounds and, where nothing else is found, words with a typo, after it.

The next page of hits is the same search without those that were shown. So whatever is written or moved meanwhile, no
message is there twice, and none that still has the words is left out.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from conversations.core.errors import LookUpTooCostly
from conversations.core.text.search_query import SearchQuery
from conversations.core.text.shown_hits import ShownHits
from conversations.grounding.bounded_query import time_limit

from .candidates import CandidateMessage, read_candidate_messages
from .fetch_rows import fetch_rows
from .hits import CheckedMessage, MessageHit, MessageHits, make_hits
from .search_filters import ORDER, OWN, WANTED, filter_parameters
from .search_terms import SearchTerms, add_compounds, add_typos, read_terms

MOST_HITS = 50
MOST_SECONDS = 2.0  # of one search, between its statements
CANDIDATES_AT_ONCE = 200
MOST_CANDIDATES = 20_000
MOST_NEW_CONVERSATIONS, MOST_NEW_MESSAGES = 50, 500  # that are not indexed yet
MOST_LOOKED_THROUGH = 2_000  # newest messages, for words that are in no index

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
NOTHING_SHOWN = ShownHits()


def search_own_messages(
    owner: int,
    query: SearchQuery,
    *,
    zone: dt.tzinfo,
    conversation: int | None = None,
    besides: int | None = None,
    most: int = MOST_HITS,
    shown: ShownHits = NOTHING_SHOWN,
) -> MessageHits:
    """Return the messages of *owner* that have what *query* asks for, but those *shown*; days begin in *zone*.

    In one *conversation*, or in all *besides* one.
    Raises `LookUpTooCostly` where that can't be told in time.
    """
    if not (query.has_words or query.filters_messages):
        return MessageHits()
    with time_limit(plans_by_parameters=True):
        terms = read_terms(owner, query)
        filters = filter_parameters(
            owner, query, zone, conversation=conversation, besides=besides, shown=shown.messages
        )
        search = _Search(terms, filters, most)
        if terms.indexed:
            search.take_indexed(shown)
        else:
            search.look_through([each.lower() for each in (*query.words, *query.phrases)])
    hits = list(search.hits.values())
    has_more = len(hits) > most
    return MessageHits(hits[:most], has_more, search.is_partial and not has_more, search.has_typos)


class _Search:
    """One search; it takes hits until there is one more than is shown."""

    def __init__(self, terms: SearchTerms, filters: Mapping[str, Any], most: int) -> None:
        self.terms = terms
        self.filters = filters
        self.wanted = most + 1
        self.hits: dict[int, MessageHit] = {}
        self.is_partial = False
        self.has_typos = False
        self._deadline = time.monotonic() + MOST_SECONDS

    def take_indexed(self, shown: ShownHits) -> None:
        """Take what has the words, then compounds; words with a typo only where nothing else is found."""
        owner, terms = self.filters["owner"], self.terms.indexed
        if not shown.have_typos:
            self._take(self._fetch(NEW), wide=True)
            self._take_candidates(wide=False)
            if not self._has_enough and add_compounds(owner, terms):
                self._take_candidates(wide=True)
        if not self.hits and (shown.have_typos or not shown.messages) and add_typos(owner, terms):
            self._take_candidates(wide=True)
            self.has_typos = bool(self.hits)

    def look_through(self, runs: Iterable[str]) -> None:
        """Look through the newest messages: for words that are in no index, and where there are filters alone."""
        self.terms.runs[:] = runs
        messages = sorted(self._fetch(NEWEST), key=lambda message: message.at, reverse=True)
        self.is_partial = len(messages) == MOST_LOOKED_THROUGH
        self._take(messages, wide=False)

    @property
    def _has_enough(self) -> bool:
        return self.is_partial or len(self.hits) >= self.wanted

    def _take_candidates(self, *, wide: bool) -> None:
        """Take the messages that have a lexeme of each term."""
        asked = [
            term.lexemes | term.shorter | term.wider if wide else term.lexemes | term.shorter
            for term in self.terms.indexed
        ]
        if not all(asked):
            return
        seen = 0
        for some in _growing(read_candidate_messages(self.filters, asked), self.wanted):
            if time.monotonic() > self._deadline:
                raise LookUpTooCostly
            pairs = {"conversations": [each for each, _ in some], "ordinals": [ordinal for _, ordinal in some]}
            self._take(self._fetch(MESSAGES, **pairs), wide=wide)
            seen += len(some)
            self.is_partial = seen > MOST_CANDIDATES
            if self._has_enough:
                return

    def _take(self, messages: Iterable[CheckedMessage], *, wide: bool) -> None:
        left = self.wanted - len(self.hits)
        others = [message for message in messages if message.id not in self.hits]
        self.hits |= {hit.message: hit for hit in make_hits(self.terms, others, most=left, wide=wide)}

    def _fetch(self, statement: str, **parameters: Any) -> list[CheckedMessage]:
        return [CheckedMessage(*row) for row in fetch_rows(statement, {**self.filters, **parameters})]


def _growing(candidates: Iterator[CandidateMessage], first: int) -> Iterator[Sequence[CandidateMessage]]:
    """Yield the candidates: as many as are shown, and then many at once."""
    size = first
    while some := list(islice(candidates, size)):
        yield some
        size = CANDIDATES_AT_ONCE
