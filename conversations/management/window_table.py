"""A window as text for a terminal: the messages in prompt order, the tokens by part, and what was left out."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence

from conversations.core.prompt.pictures import REASONS
from conversations.core.window.window_record import WindowEntry, WindowRecord
from conversations.selectors.conversations.window import WindowView
from conversations.views.conversations.policy_labels import window_rules
from conversations.wording.window_labels import LEFT_OUT_LABELS, PART_LABELS

HEADINGS = ("KIND", "ROLE", "POSITION", "TOKENS", "WORDS")
RIGHT = {"POSITION", "TOKENS"}
NARROWEST = 20
Row = tuple[str, ...]


def window_lines(view: WindowView, *, columns: int | None = None) -> Iterator[str]:
    """Yield the lines; words are cut to a terminal of that many *columns*, by default to this one."""
    columns = columns or shutil.get_terminal_size().columns
    yield from _table(_entries(view), columns)
    yield ""
    yield from _totals(view.record)
    yield ""
    yield from _not_sent(view, columns)
    yield ""
    for name, value in window_rules(view.record):
        yield f"{name}: {value}"


def _entries(view: WindowView) -> Iterator[Row]:
    for row in view.rows:
        entry = row.entry
        words = f"{''.join(_remarks(entry))}{row.excerpt}"
        yield entry.kind, entry.role, _position(entry.position), f"{entry.tokens:,}", words


def _remarks(entry: WindowEntry) -> Iterator[str]:
    if entry.truncated_to is not None:
        yield f"[first {entry.truncated_to:,} characters] "
    if entry.sent_from:
        yield f"[without its first {entry.sent_from:,} characters] "
    if entry.pictures in REASONS:
        yield f"[pictures {REASONS[entry.pictures]}] "
    elif entry.pictures:
        scaled = ", scaled down to " + " and ".join(f"{width} × {height}" for width, height in entry.scaled_to)
        detail = f"detail {entry.pictures}{scaled if entry.scaled_to else ''}"
        yield f"[pictures: {entry.picture_tokens:,} tokens, {detail}] "


def _position(position: int | None) -> str:
    """Return a position as people count: from 1."""
    return "" if position is None else f"{position + 1:,}"


def _table(rows: Iterator[Row], columns: int) -> Iterator[str]:
    whole = [HEADINGS, *rows]
    widths = [max(len(row[index]) for row in whole) for index in range(len(HEADINGS) - 1)]
    room = max(NARROWEST, columns - sum(widths) - 2 * len(widths))
    return (_line(row, widths, room) for row in whole)


def _line(row: Row, widths: Sequence[int], room: int) -> str:
    cells = [
        cell.rjust(width) if heading in RIGHT else cell.ljust(width)
        for heading, cell, width in zip(HEADINGS, row, widths, strict=False)
    ]
    return "  ".join([*cells, _cut(row[-1], room)]).rstrip()


def _totals(record: WindowRecord) -> Iterator[str]:
    parts = record.parts
    totals = [(str(PART_LABELS[part]), tokens) for part, tokens in parts.items() if part != "free" and tokens]
    totals += [("Prompt", record.prompt_tokens), ("Free", parts["free"]), ("Budget", record.budget_tokens)]
    width = max(len(name) for name, _ in totals)
    for name, tokens in totals:
        yield f"{name.ljust(width)}  {tokens:>9,}  {tokens / max(record.budget_tokens, 1):>4.0%}"


def _not_sent(view: WindowView, columns: int) -> Iterator[str]:
    first, out_of_view = view.record.first_position + 1, view.record.messages_before_window
    yield f"Messages before position {first:,} that are out of view: {out_of_view:,}"
    for row in view.left_out:
        out = row.message
        reason = LEFT_OUT_LABELS[out.reason]
        beginning = f"Left out: position {_position(out.position)}, {out.tokens:,} tokens, {reason}: "
        yield beginning + _cut(row.excerpt, max(NARROWEST, columns - len(beginning)))


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"
