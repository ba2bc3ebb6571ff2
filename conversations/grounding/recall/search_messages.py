"""Search messages: older messages of a conversation that have some words, by the index that recall uses."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.db import connection

from conversations.core.recall.recalled_passage import RecalledPassage
from conversations.grounding.bounded_query import time_limit

from .question_terms import IndexedQuestion, read_question

# The question of a reply, and whether something before it is not indexed as it is now.
QUESTION = """
SELECT conversation.id, question.position, coalesce(stored.next_position, 0) < question.position OR EXISTS (
    SELECT FROM conversations_pathchange change
    WHERE change.conversation_id = conversation.id AND change.position < question.position
)
FROM conversations_message reply
JOIN conversations_message question ON question.id = reply.parent_id
JOIN conversations_conversation conversation ON conversation.id = reply.conversation_id
LEFT JOIN conversations_messageindex stored ON stored.conversation_id = conversation.id
WHERE reply.id = %(reply)s AND conversation.deleted_at IS NULL
"""
# Whether a message has more before and behind a piece of it.
CUTS = r"""
SELECT message.id, left(message.content, start) ~ '\S', substr(message.content, stop + 1) ~ '\S'
FROM unnest(%(messages)s::bigint[], %(starts)s::int[], %(stops)s::int[]) AS piece (id, start, stop)
JOIN conversations_message message USING (id)
"""


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A *piece* of an older message that was searched for, and whether the message has more before and behind it."""

    piece: RecalledPassage
    is_cut_before: bool
    is_cut_behind: bool


@dataclass(frozen=True, slots=True)
class MessageSearch:
    """What was found, best first; *is_behind* where some older messages are not indexed yet, and can't be found."""

    found: tuple[FoundMessage, ...] = ()
    is_behind: bool = False


def search_messages(reply_id: int, words: str, *, now: dt.datetime, most: int) -> MessageSearch:
    """Search the messages of the active path before the question of a reply for *words*.

    What is excluded or never to be recalled is left out. They are ranked as recall ranks them, by the words, how rare
    these are, sessions and neighbours; but there is no floor, and each message has one of the words, or is of a day
    that they name: *now* says which, in its time zone. At most one piece of a message. Raises `LookUpTooCostly`.
    """
    with time_limit():
        place = _fetch(QUESTION, {"reply": reply_id})
        if not place:
            return MessageSearch()
        [(conversation_id, position, is_behind)] = place
        asked = read_question(conversation_id, words, before_position=position, asked_position=position, now=now)
        return MessageSearch(_found(asked, most) if asked and asked.lexemes else (), is_behind)


def _found(asked: IndexedQuestion, most: int) -> tuple[FoundMessage, ...]:
    from .find_passages import find_passages_with_words  # numpy, which a process that looks nothing up does without

    pieces = find_passages_with_words(asked, most=most)
    places = {
        "messages": [each.message for each in pieces],
        "starts": [each.start for each in pieces],
        "stops": [each.end for each in pieces],
    }
    cuts = {message: is_cut for message, *is_cut in _fetch(CUTS, places)}
    return tuple(FoundMessage(piece, *cuts[piece.message]) for piece in pieces if piece.message in cuts)


def _fetch(statement: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())
