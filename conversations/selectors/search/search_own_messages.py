"""Search messages: those of a user's conversations that have some words, newest first, with the words around them.

    terms ─▶ candidates, by the index of messages ─▶ their messages, as they are now ─▶ checked on the text ─▶ hits

The index is the one that recall uses. It covers the active path, and what is not indexed yet is looked through.
All of it is the owner's: also what is excluded, never recalled or forgotten. What is deleted or temporary is not found.
What has exactly the words is found first; compounds and, where nothing else is found, words with a typo, after it.

The next page of hits is the same search without those that were shown. So whatever is written or moved meanwhile, no
message is there twice, and none that still has the words is left out. Where only a few of each conversation are shown,
all of its few are on one page, and the others of it are a search of their own.
"""

from __future__ import annotations

import datetime as dt
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from conversations.core.errors import LookUpTooCostly
from conversations.core.text.search_query import SearchQuery
from conversations.core.text.shown_hits import ShownHits
from conversations.grounding.bounded_query import time_limit

from .candidates import CandidateMessage, ConversationCandidates, read_conversation_candidates
from .fetch_rows import fetch_rows
from .hits import CheckedMessage, FoundRow, MessageHit, MessageHits, make_hits
from .search_filters import ORDER, OWN, WANTED, filter_parameters
from .search_terms import SearchTerms, add_compounds, add_typos, read_terms

MOST_HITS = 50
MOST_SECONDS = 2.0  # of one search, between its statements
CANDIDATES_AT_ONCE = 200
MOST_CANDIDATES = 20_000
MOST_NEW_CONVERSATIONS, MOST_NEW_MESSAGES = 50, 500  # that are not indexed yet
MOST_LOOKED_THROUGH = 2_000  # newest messages, for words that are in no index

# A message may have a million characters, and so many words that they take ten times the memory of their text. So long
# ones are read one by one, and others checked some at a time.
LONGEST_READ_AT_ONCE, CHECKED_AT_ONCE = 20_000, 1_000_000  # bytes of one message, characters of several
COLUMNS = f"""
message.id, message.conversation_id, message.position, message.role, message.created_at,
CASE WHEN octet_length(message.content) <= {LONGEST_READ_AT_ONCE} THEN message.content END
"""
CONTENT = "SELECT content FROM conversations_message WHERE id = %(message)s"
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
SHOWN = "SELECT conversation_id, id FROM conversations_message WHERE id = ANY(%(shown)s)"
NOTHING_SHOWN = ShownHits()


def search_own_messages(
    owner: int,
    query: SearchQuery,
    *,
    zone: dt.tzinfo,
    conversation: int | None = None,
    besides: int | None = None,
    scenario: int | None = None,
    most: int = MOST_HITS,
    most_of_one: int | None = None,
    shown: ShownHits = NOTHING_SHOWN,
) -> MessageHits:
    """Return the messages of *owner* that have what *query* asks for, but those *shown*; days begin in *zone*.

    In one *conversation*, in all *besides* one, or in those of a *scenario*; with *most_of_one* only so many of each,
    one after the other.
    Raises `LookUpTooCostly` where that can't be told in time.
    """
    if not (query.has_words or query.filters_messages):
        return MessageHits()
    with time_limit(plans_by_parameters=True):
        terms = read_terms(owner, query)
        filters = filter_parameters(
            owner,
            query,
            zone,
            conversation=conversation,
            besides=besides,
            scenario=scenario,
            shown=shown.messages,
        )
        search = _Search(terms, filters, most) if most_of_one is None else _FewOfEach(terms, filters, most, most_of_one)
        if terms.indexed:
            search.take_indexed(shown)
        else:
            search.look_through([each.lower() for each in (*query.words, *query.phrases)])
    return search.read_hits()


class _Search:
    """One search; it takes hits until there is one more than is shown."""

    def __init__(self, terms: SearchTerms, filters: Mapping[str, Any], most: int) -> None:
        self.terms = terms
        self.filters = filters
        self.most = most
        self.wanted = most + 1
        self._taken = 0
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
        for some in self._batches(read_conversation_candidates(self.filters, asked)):
            if self._is_over():
                return
            pairs = {"conversations": [each for each, _ in some], "ordinals": [ordinal for _, ordinal in some]}
            self._take(self._fetch(MESSAGES, **pairs), wide=wide)
            seen += len(some)
            self.is_partial = self.is_partial or seen > MOST_CANDIDATES
            if self.is_partial:
                return

    def _batches(self, candidates: Iterator[ConversationCandidates]) -> Iterator[Sequence[CandidateMessage]]:
        """Yield the candidates until there are enough hits: as many as are shown, and then many at once."""
        messages = chain.from_iterable(each.messages() for each in candidates)
        size = self.wanted
        while not self._has_enough and (some := list(islice(messages, size))):
            yield some
            size = CANDIDATES_AT_ONCE

    def _take(self, messages: Iterable[FoundRow], *, wide: bool) -> None:
        """Take those that have all words, in their order, while there is room and time."""
        others = (message for message in messages if message.id not in self.hits)
        for some in _some_at_a_time(others):
            found = make_hits(self.terms, some, has_room=self._has_room, wide=wide)
            self.hits |= {hit.message: hit for hit in found}
            if self._is_full or self._is_over():
                return

    @property
    def _is_full(self) -> bool:
        """Whether nothing more has to be known of what was read."""
        return len(self.hits) >= self.wanted

    def _has_room(self, message: CheckedMessage) -> bool:
        """Tell whether *message*, which has the words, is taken."""
        self._taken += 1
        return self._taken <= self.wanted

    def read_hits(self) -> MessageHits:
        hits = list(self.hits.values())
        has_more = len(hits) > self.most
        return MessageHits(hits[: self.most], has_more, self.is_partial and not has_more, self.has_typos)

    def _is_over(self) -> bool:
        """Tell whether the time is over: then what was found is all. Raises `LookUpTooCostly` where that is nothing."""
        if time.monotonic() <= self._deadline:
            return False
        if not self.hits:
            raise LookUpTooCostly
        self.is_partial = True
        return True

    def _fetch(self, statement: str, **parameters: Any) -> list[FoundRow]:
        return [FoundRow(*row) for row in fetch_rows(statement, {**self.filters, **parameters})]


def _some_at_a_time(rows: Iterable[FoundRow]) -> Iterator[list[CheckedMessage]]:
    """Yield the messages of *rows* in their order, together as many as may be checked at once; a long one by itself."""
    waiting: list[CheckedMessage] = []
    characters = 0
    for row in rows:
        if row.content is None:
            if waiting:
                yield waiting
            waiting, characters = [], 0
            if found := fetch_rows(CONTENT, {"message": row.id}):
                yield [CheckedMessage(*row[:-1], found[0][0])]
            continue
        waiting.append(CheckedMessage(*row[:-1], row.content))
        characters += len(row.content)
        if characters >= CHECKED_AT_ONCE:
            yield waiting
            waiting, characters = [], 0
    if waiting:
        yield waiting


class _FewOfEach(_Search):
    """A search of many conversations that takes a few hits of each, and notes which of them have more."""

    def __init__(self, terms: SearchTerms, filters: Mapping[str, Any], most: int, most_of_one: int) -> None:
        super().__init__(terms, filters, most)
        self.most_of_one = most_of_one
        self.more_in: set[int] = set()
        self.earlier: dict[int, list[int]] = {}
        if filters["shown"]:
            for conversation, message in fetch_rows(SHOWN, filters):
                self.earlier.setdefault(conversation, []).append(message)
        self._of_one = Counter({conversation: len(messages) for conversation, messages in self.earlier.items()})
        self._had_all = {conversation for conversation, count in self._of_one.items() if count >= most_of_one}
        self._here: set[int] = set()  # conversations with a hit on this page

    def _is_open(self, candidate: CandidateMessage | ConversationCandidates | FoundRow | CheckedMessage) -> bool:
        """Tell whether more has to be known of the conversation that *candidate* is in."""
        return candidate.conversation not in self.more_in and candidate.conversation not in self._had_all

    def _batches(self, candidates: Iterator[ConversationCandidates]) -> Iterator[Sequence[CandidateMessage]]:
        """Yield the candidates until there are enough hits, and all is known of the conversations that they are in.

        First as many of each conversation as say whether it has more; the others only where these were not hits.
        """
        few = self.most_of_one + 1
        wanted = filter(self._is_open, candidates)
        size = self.wanted
        while not self._has_enough and (some := list(islice(wanted, -(-size // self.most_of_one)))):
            yield [message for each in some for message in each.messages(stop=few)]
            others = chain.from_iterable(each.messages(few) for each in some if self._is_open(each))
            while others_at_once := list(islice(filter(self._is_open, others), CANDIDATES_AT_ONCE)):
                yield others_at_once
            size = CANDIDATES_AT_ONCE

    @property
    def _is_full(self) -> bool:
        return False  # there may be more in the conversations of the hits

    def _take(self, messages: Iterable[FoundRow], *, wide: bool) -> None:
        super()._take(filter(self._is_open, messages), wide=wide)

    def _has_room(self, message: CheckedMessage) -> bool:
        conversation = message.conversation
        if self._of_one[conversation] >= self.most_of_one:
            if self._is_open(message):
                self.more_in.add(conversation)
            return False
        if self._taken >= self.wanted and conversation not in self._here:
            return False
        self._taken += 1
        self._of_one[conversation] += 1
        self._here.add(conversation)
        return True

    def read_hits(self) -> MessageHits:
        by_conversation: dict[int, list[MessageHit]] = {}
        for hit in self.hits.values():
            by_conversation.setdefault(hit.conversation.id, []).append(hit)
        hits: list[MessageHit] = []
        has_more = False
        for some in by_conversation.values():
            has_more = has_more or len(hits) + len(some) > self.most
            hits += [] if has_more else some
        is_partial = self.is_partial and not has_more
        return MessageHits(hits, has_more, is_partial, self.has_typos, self.more_in, self.earlier)
