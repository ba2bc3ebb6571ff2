"""The older messages of a conversation as the window reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from conversations.core.history import HistoryMessage
from conversations.core.messages import PromptMessage, ToolCall
from conversations.models import Message

# A window rarely needs more rows than the first chunk; reading a little too much is cheaper than a second query.
FIRST_CHUNK_ROWS = 64
LARGEST_CHUNK_ROWS = 1024


class HistoryRow(NamedTuple):
    """A message's columns that matter to a window, in the order of `COLUMNS`."""

    id: int
    position: int
    role: str
    content: str
    tool_calls: list[dict[str, Any]]
    tool_call_id: str
    content_tokens: int
    encoding: str
    excluded: bool

    def to_history(self) -> HistoryMessage:
        message = PromptMessage(
            self.role,  # type: ignore[arg-type]  # the database holds no other
            self.content,
            tool_calls=tuple(map(ToolCall.from_wire, self.tool_calls)),
            tool_call_id=self.tool_call_id or None,
        )
        return HistoryMessage(self.position, message, self.content_tokens, id=self.id, excluded=self.excluded)


COLUMNS = HistoryRow._fields


def iterate_rows(conversation_id: int, *, before: int) -> Iterator[HistoryRow]:
    """Yield the active messages below position *before*, newest first, by ranges of one index."""
    chunk_rows = FIRST_CHUNK_ROWS
    path = Message.objects.filter(conversation_id=conversation_id, active=True).order_by("-position")
    while True:
        rows = [HistoryRow(*row) for row in path.filter(position__lt=before).values_list(*COLUMNS)[:chunk_rows]]
        yield from rows
        if len(rows) < chunk_rows:
            return
        before = rows[-1].position
        chunk_rows = min(2 * chunk_rows, LARGEST_CHUNK_ROWS)


def pinned_rows(conversation_id: int, *, before: int) -> list[HistoryRow]:
    """Return the pinned active messages below position *before*, oldest first."""
    pinned = Message.objects.filter(
        conversation_id=conversation_id, active=True, pinned=True, excluded=False, position__lt=before
    )
    return [HistoryRow(*row) for row in pinned.order_by("position").values_list(*COLUMNS)]
