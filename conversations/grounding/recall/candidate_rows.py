"""Candidates in the database: what is stored of older messages that a question may need, and their text."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from django.db import connection

from .indexed_passages import IndexedPassages

# Those that may still be recalled: a message may have left the path since it was indexed. LIMIT makes PostgreSQL look
# each message up by its id: it would rather read all messages of everyone.
CANDIDATES = """
SELECT passage.ordinal, message.id, message.position, message.role, message.name,
       extract(epoch FROM message.created_at)::float8,
       passage.session, passage.place, passage.start, passage."end", passage.passages_in_message,
       CASE passage.passages_in_message WHEN 1 THEN passage.tokens ELSE message.content_tokens END,
       passage.first_person_words, passage.is_question
FROM conversations_messagepassage passage
CROSS JOIN LATERAL (SELECT * FROM conversations_message WHERE id = passage.message_id LIMIT 1) AS message
WHERE passage.conversation_id = %(conversation)s AND passage.ordinal = ANY(%(firsts)s::int[])
  AND message.active AND NOT message.excluded AND NOT message.never_recalled AND message.position < %(position)s
  AND message.position >= (SELECT forgotten_before FROM conversations_conversation WHERE id = %(conversation)s)
"""
# The ordinal of a `conversation`'s first passage that is not forgotten: they lie in the order of their messages.
FIRST_KEPT = """
coalesce((
  SELECT ordinal FROM conversations_messagepassage passage
  WHERE passage.conversation_id = conversation.id AND position >= conversation.forgotten_before
  ORDER BY position, ordinal LIMIT 1
), 2147483647)
"""
TEXTS = """
SELECT message.id, substr(message.content, start + 1, size)
FROM unnest(%(messages)s::bigint[], %(starts)s::int[], %(sizes)s::int[]) AS wanted (id, start, size)
JOIN conversations_message message USING (id)
"""
PASSAGES = """
SELECT ordinal, start, "end", tokens, search::text FROM conversations_messagepassage
WHERE conversation_id = %(conversation)s AND ordinal = ANY(%(ordinals)s::int[])
"""
IN_TIME = """
SELECT ordinal FROM conversations_messagepassage
WHERE conversation_id = %(conversation)s AND at >= %(first)s AND at < %(stop)s AND ordinal < %(passages)s
ORDER BY at DESC LIMIT %(most)s
"""


LAST_PLACE = re.compile(r"(\d+)(?:$| ')")


class CandidateRow(NamedTuple):
    """An older message that may be recalled, with its first passage.

    *first* is the ordinal of that, which goes from *start* to *end*. It is of another
    *conversation*, or, where that is None, of the one that is asked in.
    """

    first: int
    message: int
    position: int
    role: str
    name: str
    timestamp: float  # of when it was said: a `datetime` of each candidate would take longer
    session: int
    place: int
    start: int
    end: int
    passages: int
    tokens: int
    first_person_words: int
    is_question: bool
    conversation: int | None = None

    @property
    def at(self) -> dt.datetime:
        return dt.datetime.fromtimestamp(self.timestamp, dt.UTC)


class LexicalPassage(NamedTuple):
    """A passage with its lexemes, and where each is: the number of its word, from 1."""

    ordinal: int
    start: int
    end: int
    tokens: int
    tsvector: str

    @property
    def all_words(self) -> float:
        """Return about how many words it has, with stop words: the number of the last one that has a lexeme."""
        return max(map(int, LAST_PLACE.findall(self.tsvector)), default=1)

    def places(self, lexemes: re.Pattern[str]) -> list[tuple[int, str]]:
        """Return where the lexemes are that a pattern from `match_lexemes` has, in their order."""
        found = lexemes.findall(self.tsvector)
        return sorted((int(place), lexeme) for lexeme, places in found for place in places.split(","))


def match_lexemes(lexemes: Collection[str]) -> re.Pattern[str]:
    """Return a pattern that finds *lexemes*, of which there is one at least, in a tsvector, with their places."""
    return re.compile(rf"'({'|'.join(map(re.escape, lexemes))})':([0-9,]+)")


def read_candidates(index: IndexedPassages, ordinals: Collection[int]) -> list[CandidateRow]:
    """Return the messages whose first passages have these *ordinals*, if they may be found and sent."""
    found = []
    for part, inside in index.split(ordinals):
        parameters = {
            "conversation": part.conversation_id,
            "firsts": _array(inside),
            "position": part.before_position,
        }
        other = part.conversation_id if part.is_other else None
        for first, *columns in _fetch(CANDIDATES, parameters):
            found.append(CandidateRow._make((part.in_look_up(first), *columns, other)))
    return found


def read_texts(wanted: Collection[tuple[int, int, int]]) -> dict[int, str]:
    """Return by message the characters from a start to an end; *wanted* are (message, start, end)."""
    parameters = {
        "messages": _array(message for message, _, _ in wanted),
        "starts": _array(start for _, start, _ in wanted),
        "sizes": _array(end - start for _, start, end in wanted),
    }
    return dict(_fetch(TEXTS, parameters))


def read_passages(index: IndexedPassages, ordinals: Collection[int]) -> dict[int, LexicalPassage]:
    """Return the passages with these ordinals."""
    found = {}
    for part, inside in index.split(ordinals):
        for ordinal, *columns in _fetch(PASSAGES, {"conversation": part.conversation_id, "ordinals": _array(inside)}):
            if (place := part.in_look_up(ordinal)) is not None:
                found[place] = LexicalPassage(place, *columns)
    return found


def passages_in_time(
    index: IndexedPassages, *, first: dt.datetime, stop: dt.datetime, passages: int, most: int
) -> list[int]:
    """Return the ordinals, among the first *passages*, of what was said from *first* to before *stop*.

    Of each conversation the newest, *most* of them.
    """
    found: list[int] = []
    for part, inside in index.first(passages):
        span = {"first": first, "stop": stop, "passages": inside, "most": most}
        rows = _fetch(IN_TIME, {"conversation": part.conversation_id, **span})
        found += [ordinal for (inside,) in rows if (ordinal := part.in_look_up(inside)) is not None]
    return found


def _array(numbers: Iterable[int]) -> str:
    """Return *numbers* as PostgreSQL writes an array: psycopg adapts each of hundreds by itself."""
    return f"{{{','.join(map(str, numbers))}}}"


def _fetch(statement: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())
