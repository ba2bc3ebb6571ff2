"""Hits of a search, as a page shows them: messages with the words around what was found, and titles."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .fetch_rows import fetch_rows
from .found_text import FoundText, MarkedPiece
from .search_terms import SearchTerms

CONVERSATIONS = """
SELECT id, public_id, title, archived, starred FROM conversations_conversation WHERE id = ANY(%(conversations)s)
"""


class HitConversation(NamedTuple):
    id: int
    public_id: uuid.UUID
    title: str
    archived: bool
    starred: bool


class TitleHit(NamedTuple):
    """A conversation whose title has the words."""

    conversation: HitConversation
    title: list[MarkedPiece]
    last_active_at: dt.datetime


class MessageHit(NamedTuple):
    """A message with the words around what was found, and *words*, as they stand in it."""

    conversation: HitConversation
    message: int
    position: int
    role: str
    at: dt.datetime
    excerpt: list[MarkedPiece]
    words: set[str]


@dataclass(slots=True)
class MessageHits:
    """Hits, best first. *has_more* if there are others; *is_partial* if only the newest ones were looked through.

    *have_typos* says that what was typed is nowhere, so these have words that are one letter away. Where only a few of
    each conversation are shown, *more_in* are the ids of those that have more, and *earlier* the messages by
    conversation that pages before have shown.
    """

    hits: list[MessageHit] = field(default_factory=list)
    has_more: bool = False
    is_partial: bool = False
    have_typos: bool = False
    more_in: set[int] = field(default_factory=set)
    earlier: dict[int, list[int]] = field(default_factory=dict)


class FoundRow(NamedTuple):
    """A message that may be a hit; the *content* of a long one is None, and read when it is checked."""

    id: int
    conversation: int
    position: int
    role: str
    at: dt.datetime
    content: str | None


class CheckedMessage(NamedTuple):
    """A message that may be a hit, as it is now."""

    id: int
    conversation: int
    position: int
    role: str
    at: dt.datetime
    content: str


def make_hits(
    terms: SearchTerms, messages: Iterable[CheckedMessage], *, has_room: Callable[[CheckedMessage], bool], wide: bool
) -> list[MessageHit]:
    """Return those of *messages* that have all words, as their content says, in their order, while there is room."""
    unique = list({message.id: message for message in messages}.values())
    text = FoundText(terms, (message.content for message in unique), wide=wide)
    chosen = [message for message in unique if text.has_all(message.content) and has_room(message)]
    conversations = _conversations(message.conversation for message in chosen)
    return [
        _hit(message, conversation, text)
        for message in chosen
        if (conversation := conversations.get(message.conversation))
    ]


def _hit(message: CheckedMessage, conversation: HitConversation, text: FoundText) -> MessageHit:
    excerpt, words = text.excerpt(message.content), text.found_words(message.content)
    return MessageHit(conversation, message.id, message.position, message.role, message.at, excerpt, words)


def _conversations(ids: Iterable[int]) -> dict[int, HitConversation]:
    wanted: Sequence[int] = list(set(ids))
    return {row[0]: HitConversation(*row) for row in fetch_rows(CONVERSATIONS, {"conversations": wanted})}
