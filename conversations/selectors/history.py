"""The older messages of a conversation as the window reads them.

In SQL, and with one statement where that is enough: every message and every estimate of one asks, and Django's query
builder takes longer to write this statement than PostgreSQL to answer it. Pins stand before all others in the index
that is read, so that one range of it holds both: asking for them apart costs half as much again.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from django.db import connection

from conversations.core.history import HistoryMessage
from conversations.core.messages import PromptMessage, ToolCall

# A window rarely needs more rows than the first chunk; reading a little too much is cheaper than a second query.
FIRST_CHUNK_ROWS = 64
LARGEST_CHUNK_ROWS = 1024
SPARE_ROWS = 8  # for pins from before the window's beginning, and for the message that it ends at


class HistoryRow(NamedTuple):
    """A message's columns that matter to a window. *tool_calls* is JSON, or None where there are none."""

    id: int
    position: int
    role: str
    content: str
    content_tokens: int
    encoding: str
    tool_calls: str | None = None
    tool_call_id: str = ""
    excluded: bool = False
    pinned: bool = False

    def to_history(self) -> HistoryMessage:
        calls = tuple(map(ToolCall.from_wire, json.loads(self.tool_calls))) if self.tool_calls else ()
        # The database holds no other roles.
        message = PromptMessage(self.role, self.content, None, calls, self.tool_call_id or None)  # type: ignore[arg-type]
        return HistoryMessage(self.position, message, self.content_tokens, self.id, self.excluded)


# The columns in the order of `HistoryRow`; the rows after one of them, in the order of the index.
ROWS = """
SELECT id, position, role, content, content_tokens, encoding, NULLIF(tool_calls, '[]')::text, tool_call_id, excluded,
       pinned
FROM conversations_message
WHERE conversation_id = %(conversation)s AND active AND position < %(before)s
  AND (pinned, position) < (%(pinned)s, %(position)s)
ORDER BY pinned DESC, position DESC LIMIT %(rows)s
"""


class History(NamedTuple):
    """A conversation's path below a position: the pins on it, oldest first, and all of it, newest first."""

    pins: list[HistoryRow]
    newest_first: Iterator[HistoryRow]


def read_history(conversation_id: int, *, before: int, anchor: int | None = None) -> History:
    """Read the active messages below position *before* by ranges of one index, the older ones when they are needed.

    *anchor* is the position that the reader expects to go back to, if there is one.
    """
    pins, others = _take_pins(_pins_first(conversation_id, before, _first_chunk_rows(before, anchor)))
    newest_first = heapq.merge(pins, others, key=lambda row: row.position, reverse=True) if pins else others
    return History([pin for pin in reversed(pins) if not pin.excluded], newest_first)


def _first_chunk_rows(before: int, anchor: int | None) -> int:
    """Return how many rows to read at first: positions on a path follow one another without a gap."""
    if anchor is None or anchor > before:
        return FIRST_CHUNK_ROWS
    return min(before - anchor + SPARE_ROWS, LARGEST_CHUNK_ROWS)


def _take_pins(pins_first: Iterator[HistoryRow]) -> tuple[list[HistoryRow], Iterator[HistoryRow]]:
    """Return the pins, newest first, and the rows after them."""
    pins = []
    for row in pins_first:
        if not row.pinned:
            return pins, chain((row,), pins_first)
        pins.append(row)
    return pins, iter(())


def _pins_first(conversation_id: int, before: int, chunk_rows: int) -> Iterator[HistoryRow]:
    """Yield the pins and then the other messages, both newest first, in larger and larger chunks."""
    parameters = {"conversation": conversation_id, "before": before, "pinned": True, "position": before}
    while True:
        rows = _read({**parameters, "rows": chunk_rows})
        yield from rows
        if len(rows) < chunk_rows:
            return
        parameters |= {"pinned": rows[-1].pinned, "position": rows[-1].position}
        chunk_rows = min(max(2 * chunk_rows, FIRST_CHUNK_ROWS), LARGEST_CHUNK_ROWS)


def _read(parameters: dict[str, int]) -> list[HistoryRow]:
    with connection.cursor() as cursor:
        cursor.execute(ROWS, parameters)
        return list(map(HistoryRow._make, cursor.fetchall()))
