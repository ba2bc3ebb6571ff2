"""A stored window record with recalled passages, for tests that need no look-up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from conversations.core.window.window_record import LeftOutMessage, RecallEntry, RecallRecord, WindowRecord
from conversations.models import Completion, Message


def entry_of(message: Message, start: int = 0, end: int | None = None, *, why: tuple[str, ...] = ()) -> RecallEntry:
    """Return the characters *start* to *end* of *message* as a recalled passage."""
    end = len(message.content) if end is None else end
    is_cut = (start, end) != (0, len(message.content))
    return RecallEntry(message.pk, message.position, start, end, is_cut, "2026-11-02", 12, 1.25, why)


def store_recall(
    reply: Message,
    recall: RecallRecord,
    *,
    first_position: int | None = None,
    left_out: Sequence[LeftOutMessage] = (),
) -> None:
    """Make the last request for *reply* one with *recall*, whose window begins at *first_position*."""
    completion = reply.completions.latest("id")
    record = WindowRecord.from_json(completion.window)
    if first_position is not None:
        record = replace(record, first_position=first_position, messages_before_window=first_position)
    record = replace(record, recall=recall, left_out=(*record.left_out, *left_out))
    Completion.objects.filter(pk=completion.pk).update(window=record.to_json())
