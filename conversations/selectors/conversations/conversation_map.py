"""The map of a conversation: all of its messages in few buckets, and those that are marked."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from django.db import connection

from conversations.models import Conversation

from .window_coverage import Coverage, Mark

MOST_BUCKETS = 180
MOST_MARKS = 1_000  # of each kind, the newest

# One group less than there may be buckets: the line parts one of them in two. Positions follow one another without a
# gap, and reading the active path is one range of its index.
BUCKETS = """
SELECT min(position), max(position), count(*) FILTER (WHERE step_of_id IS NULL), sum(content_tokens),
       coalesce(sum(content_tokens) FILTER (WHERE role = 'user'), 0), position >= %(first_seen)s AS in_view,
       min(created_at), max(created_at)
FROM conversations_message
WHERE conversation_id = %(conversation)s AND active
GROUP BY position::bigint * %(groups)s / %(messages)s, in_view
ORDER BY min(position)
"""
MARKED = """
SELECT id, position, pinned, excluded, created_at FROM conversations_message
WHERE conversation_id = %(conversation)s AND active AND step_of_id IS NULL AND {chosen}
ORDER BY position DESC LIMIT %(most)s
"""
PINNED, EXCLUDED = MARKED.format(chosen="pinned"), MARKED.format(chosen="excluded")
NAMED = MARKED.format(chosen="id = ANY(%(named)s)")


class MapBucket(NamedTuple):
    """Messages that follow one another, drawn as one: how many, with how many tokens, those of the user among them.

    The steps of replies are part of it with their tokens, and are no messages. A bucket lies wholly in view or wholly
    out of it; what is marked in it, is marked by itself.
    """

    first_position: int
    last_position: int
    messages: int
    tokens: int
    user_tokens: int
    is_in_view: bool
    began_at: dt.datetime
    ended_at: dt.datetime


class MapMark(NamedTuple):
    """A message that is marked otherwise than its bucket says."""

    message: int
    position: int
    mark: Mark
    at: dt.datetime


class _MarkedRow(NamedTuple):
    pk: int
    position: int
    pinned: bool
    excluded: bool
    at: dt.datetime


@dataclass(frozen=True, slots=True)
class ConversationMap:
    """Buckets and marks, oldest first; there are at most `MOST_BUCKETS`."""

    buckets: list[MapBucket]
    marks: list[MapMark]

    @property
    def messages(self) -> int:
        return sum(bucket.messages for bucket in self.buckets)

    @property
    def messages_above(self) -> int:
        """How many are out of view because they stand above the line."""
        return sum(bucket.messages for bucket in self.buckets if not bucket.is_in_view)


def conversation_map(conversation: Conversation, coverage: Coverage, *, most: int = MOST_BUCKETS) -> ConversationMap:
    """Return the map of what is active in *conversation*, marked as a window with that *coverage* holds it."""
    with connection.cursor() as cursor:
        asked = {"conversation": conversation.pk, "first_seen": coverage.first_position, "most": MOST_MARKS}
        cursor.execute(
            "SELECT max(position) + 1 FROM conversations_message WHERE conversation_id = %(conversation)s AND active",
            asked,
        )
        [(messages,)] = cursor.fetchall()
        if not messages:
            return ConversationMap([], [])
        cursor.execute(
            BUCKETS, {**asked, "messages": messages, "groups": most - 1 if coverage.first_position else most}
        )
        buckets = list(_with_messages(MapBucket(*row) for row in cursor.fetchall()))
        rows: dict[int, _MarkedRow] = {}
        for statement in (PINNED, EXCLUDED, NAMED):
            cursor.execute(statement, {**asked, "named": [*coverage.recalled, *coverage.left_out]})
            rows |= {row[0]: _MarkedRow(*row) for row in cursor.fetchall()}
    marked = sorted(rows.values(), key=lambda row: row.position)
    marks = [MapMark(row.pk, row.position, coverage.mark_of(row), row.at) for row in marked]
    return ConversationMap(buckets, [mark for mark in marks if mark.mark != "in"])


def _with_messages(buckets: Iterable[MapBucket]) -> Iterator[MapBucket]:
    """Yield *buckets*, the ones of steps alone joined to the one after them, in which their reply stands."""
    steps: MapBucket | None = None
    for bucket in buckets:
        joined = bucket if steps is None else _join(steps, bucket)
        steps = None if joined.messages else joined
        if joined.messages:
            yield joined


def _join(steps: MapBucket, reply: MapBucket) -> MapBucket:
    return reply._replace(
        first_position=steps.first_position,
        tokens=steps.tokens + reply.tokens,
        user_tokens=steps.user_tokens + reply.user_tokens,
        began_at=steps.began_at,
    )
