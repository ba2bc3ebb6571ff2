"""The parts of a window as layers of its picture: what was sent lies at the bottom, the room left is the sky."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.functional import Promise

from conversations.core.window.window_record import Part, WindowRecord
from conversations.wording.window_labels import PART_LABELS

PANE_HEIGHT = 180
THINNEST = 2  # what is there can be seen


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
    for part, label in PART_LABELS.items():
        if tokens := tokens_by_part[part]:
            share = tokens / budget_tokens
            height = max(THINNEST, round(share * PANE_HEIGHT, 1))
            y = round(y - height, 1)
            yield Stratum(part, label, tokens, 100 * share, y, height)
