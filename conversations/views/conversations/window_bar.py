"""The parts of a window as layers of its picture: what was sent lies at the bottom, the room left is the sky."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from conversations.core.window.window_record import Part, WindowRecord

PANE_HEIGHT = 180
THINNEST = 2  # what is there can be seen
LABELS: dict[Part, Promise] = {
    "system": gettext_lazy("System prompt and format"),
    "tools": gettext_lazy("Tools"),
    "pins": gettext_lazy("Pinned messages"),
    "older": gettext_lazy("Older messages"),
    "grounding": gettext_lazy("Grounding"),
    "newest": gettext_lazy("Newest message"),
    "tool_steps": gettext_lazy("Tool steps"),
}


@dataclass(frozen=True, slots=True)
class Stratum:
    """A part of the prompt; *y* and *height* are units of the pane, measured from its top, *percent* of the budget."""

    part: Part
    label: Promise
    tokens: int
    percent: float
    y: float
    height: float


def strata_of(record: WindowRecord) -> list[Stratum]:
    """Return the parts that have tokens, lowest first."""
    return list(_stacked(record.parts, budget_tokens=max(1, record.budget_tokens)))


def _stacked(tokens_by_part: dict[Part, int], *, budget_tokens: int) -> Iterator[Stratum]:
    y = float(PANE_HEIGHT)
    for part, label in LABELS.items():
        if tokens := tokens_by_part[part]:
            share = tokens / budget_tokens
            height = max(THINNEST, round(share * PANE_HEIGHT, 1))
            y = round(y - height, 1)
            yield Stratum(part, label, tokens, 100 * share, y, height)
