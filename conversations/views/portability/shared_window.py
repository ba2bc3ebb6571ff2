"""The window record of a shared reply, as a page of the share shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models.functions import Left

from conversations.core.window.window_record import WindowEntry, WindowRecord
from conversations.models import Share, SharedMessage
from conversations.selectors.conversations.window import excerpt
from conversations.views.conversations.window_bar import window_segments
from conversations.wording.model_labels import model_label
from conversations.wording.window_labels import LEFT_OUT_LABELS

BEGINNING = 400  # characters that an excerpt is made of


@dataclass(frozen=True, slots=True)
class SharedRow:
    """One message of the prompt: *number* is that of a shared message, and *words* are where they are shared."""

    entry: WindowEntry
    number: int | None
    words: str


def window_of_share(share: Share, message: SharedMessage) -> dict[str, Any]:
    """Return the context of the page of *message*, which has a window."""
    stored = message.window or {}
    record = WindowRecord.from_json(stored["record"])
    named = {entry.message for entry in record.entries} | {out.message for out in record.left_out}
    named |= {entry.message for entry in record.recall.included}
    beginnings = _beginnings(share, {number for number in named if number is not None})
    rows = [_row(entry, beginnings, stored.get("system_prompt", "")) for entry in record.entries]
    recalled = [(entry, beginnings.get(entry.message, "")) for entry in record.recall.included]
    return {
        "record": record,
        "usage": stored,
        "seen_by": model_label(record.language_model),
        "segments": window_segments(record),
        "free_tokens": record.parts["free"],
        "rows": rows,
        "system_prompt": stored.get("system_prompt", ""),
        "tools": stored.get("tools", []),
        "messages_in_view": sum(map(_is_said, record.entries)),
        "most_tokens": max(record.tool_schema_tokens, *(entry.tokens for entry in record.entries), 1),
        "recalled": recalled,
        "recalled_elsewhere": record.recall.left_out_unnamed,
        "left_out_rows": [
            (LEFT_OUT_LABELS[out.reason], out, beginnings.get(out.message or 0, "")) for out in record.left_out
        ],
        "said": message.said_at,
        "sources": message.sources,
    }


def _is_said(entry: WindowEntry) -> bool:
    return entry.role in ("user", "assistant") and entry.kind not in ("tool_step", "summary", "continue_request")


def _beginnings(share: Share, numbers: set[int]) -> dict[int, str]:
    """Return the first words of those messages, as they are shared."""
    rows = share.messages.filter(number__in=numbers).values_list("number", Left("content", BEGINNING))
    return {number: excerpt(beginning) for number, beginning in rows}


def _row(entry: WindowEntry, beginnings: dict[int, str], system_prompt: str) -> SharedRow:
    if entry.kind == "system":
        return SharedRow(entry, None, excerpt(system_prompt))
    words = "" if entry.kind == "tool_step" or entry.role == "tool" else beginnings.get(entry.message or 0, "")
    return SharedRow(entry, entry.message, words)
