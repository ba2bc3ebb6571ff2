"""The segments of the window bar: what was sent lies at the bottom, the room that is left above it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.functional import Promise

from conversations.core.window.window_record import Part, WindowRecord
from conversations.wording.window_labels import PART_LABELS

PANE_HEIGHT = 180
THINNEST = 2  # what is there can be seen


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the prompt; *y* and *height* are units of the pane, measured from its top, *percent* of the budget."""

    part: Part
    label: Promise
    tokens: int
    percent: float
    y: float
    height: float


def window_segments(record: WindowRecord) -> list[Segment]:
    """Return the parts that have tokens, lowest first."""
    return list(_stack(record.parts, budget_tokens=max(1, record.budget_tokens)))


def _stack(tokens_by_part: dict[Part, int], *, budget_tokens: int) -> Iterator[Segment]:
    y = float(PANE_HEIGHT)
    for part, label in PART_LABELS.items():
        if tokens := tokens_by_part[part]:
            share = tokens / budget_tokens
            height = max(THINNEST, round(share * PANE_HEIGHT, 1))
            y = round(y - height, 1)
            yield Segment(part, label, tokens, 100 * share, y, height)
