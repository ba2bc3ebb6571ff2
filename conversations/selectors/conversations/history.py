"""The older messages of a conversation as the window reads them.

In SQL, and with one statement where that is enough: every message and every estimate of one asks, and Django's query
builder takes longer to write these statements than PostgreSQL to answer them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from django.db import connection

from .pictures import SentPicture, pictures_of_conversation

# A window rarely needs more rows than the first chunk; reading a little too much is cheaper than a second query.
FIRST_CHUNK_ROWS = 64
LARGEST_CHUNK_ROWS = 1024
ROWS_PAST_ANCHOR = 2  # a policy looks at the unit before it, which is one message, or a tool call with its result


class HistoryRow(NamedTuple):
    """A message's columns that matter to a window. *tool_calls* is JSON, or None where there are none.

    *pictures* are those of its pictures that are there.
    """

    id: int
    position: int
    role: str
    content: str
    content_tokens: int
    encoding: str
    tool_calls: str | None = None
    tool_call_id: str = ""
    excluded: bool = False
    failed: bool = False
    pictures: Sequence[SentPicture] | None = None
    as_pin: bool = False


# What a query returns: the columns of a `HistoryRow`, without the names, which take longer to make and to take apart.
Row = tuple[Any, ...]
PICTURES, AS_PIN = HistoryRow._fields.index("pictures"), HistoryRow._fields.index("as_pin")
PICTURES_OF = itemgetter(PICTURES)

# The columns in the order of `HistoryRow`. Arguments go by their place: by name, psycopg takes a tenth longer.
PATH = """
SELECT id, position, role, content, content_tokens, encoding, NULLIF(tool_calls, '[]')::text, tool_call_id, excluded,
       state = 'failed', NULLIF(picture_ids, '{{}}'), {as_pin}
FROM conversations_message
WHERE conversation_id = %s AND active AND position < %s AND position >= %s
"""
PINS = PATH.format(as_pin="true") + "AND pinned AND NOT excluded ORDER BY position"
NEWEST = PATH.format(as_pin="false") + "ORDER BY position DESC LIMIT %s"
PINS_AND_NEWEST = f"({PINS}) UNION ALL ({NEWEST})"


class History(NamedTuple):
    """A conversation's path below a position: the pins on it, oldest first, and all of it, newest first."""

    pins: list[Row]
    newest_first: Iterator[Row]


def read_history(
    conversation_id: int,
    *,
    before: int,
    forgotten_before: int = 0,
    anchor: int | None = None,
    has_pins: bool = True,
) -> History:
    """Read the active messages below position *before*: the pins with the newest, the older ones when they are needed.

    What is below *forgotten_before* is not read.
    *anchor* is the position that the reader expects to go back to, if there is one. *has_pins* is false where there are
    none for sure: asking for them takes half as long again as the messages themselves.
    """
    chunk_rows = _first_chunk_rows(before, anchor)
    read = partial(_read_newest, conversation_id, forgotten_before)
    if not has_pins:
        return History([], chain.from_iterable(_chunks(read, read(before, chunk_rows), chunk_rows)))
    path = (conversation_id, before, forgotten_before)
    rows = _read(PINS_AND_NEWEST, conversation_id, (*path, *path, chunk_rows))
    pins = [row for row in rows if row[AS_PIN]]
    return History(pins, chain.from_iterable(_chunks(read, rows[len(pins) :], chunk_rows)))


def read_pins(conversation_id: int, *, before: int, forgotten_before: int = 0) -> list[Row]:
    """Read the pins below position *before*, oldest first, and nothing else."""
    return _read(PINS, conversation_id, (conversation_id, before, forgotten_before))


def _first_chunk_rows(before: int, anchor: int | None) -> int:
    """Return how many rows to read at first: positions on a path follow one another without a gap."""
    if anchor is None or anchor > before:
        return FIRST_CHUNK_ROWS
    return min(before - anchor + ROWS_PAST_ANCHOR, LARGEST_CHUNK_ROWS)


def _chunks(read: Callable[[int, int], list[Row]], rows: list[Row], chunk_rows: int) -> Iterator[list[Row]]:
    """Yield *rows*, which are the first chunk, and then larger and larger ones."""
    while True:
        yield rows
        if len(rows) < chunk_rows:
            return
        chunk_rows = min(max(2 * chunk_rows, FIRST_CHUNK_ROWS), LARGEST_CHUNK_ROWS)
        _, last_position, *_ = rows[-1]
        rows = read(last_position, chunk_rows)


def _read_newest(conversation_id: int, forgotten_before: int, before: int, rows: int) -> list[Row]:
    return _read(NEWEST, conversation_id, (conversation_id, before, forgotten_before, rows))


def _read(statement: str, conversation_id: int, arguments: Sequence[int]) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(statement, arguments)
        found = cursor.fetchall()
    return _with_pictures(conversation_id, found) if any(map(PICTURES_OF, found)) else found


def _with_pictures(conversation_id: int, rows: list[tuple[Any, ...]]) -> list[Row]:
    """Return *rows* with their pictures in the place of the ids, read in one further statement.

    To join them in the first one made every window slower by a third, of conversations without pictures too.
    """
    named = {picture_id for row in rows for picture_id in row[PICTURES] or ()}
    found = {picture.id: picture for picture in pictures_of_conversation(conversation_id, named)}
    return [
        (*row[:PICTURES], [found[each] for each in row[PICTURES] or () if each in found], *row[PICTURES + 1 :])
        for row in rows
    ]
