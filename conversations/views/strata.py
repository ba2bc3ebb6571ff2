"""The parts of a window as layers of its picture: what was sent lies at the bottom, the room left is the sky."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from conversations.core.record import WindowRecord

PANE_HEIGHT = 180
THINNEST = 2  # what is there can be seen
LABELS: dict[str, Promise] = {
    "system": gettext_lazy("System prompt"),
    "format": gettext_lazy("Format and tools"),
    "pin": gettext_lazy("Pinned messages"),
    "older": gettext_lazy("Older messages"),
    "grounding": gettext_lazy("Grounding"),
    "newest": gettext_lazy("Newest message"),
}


@dataclass(frozen=True, slots=True)
class Stratum:
    """A part of the prompt; *y* and *height* are units of the pane, measured from its top, *percent* of the budget."""

    kind: str
    label: Promise
    tokens: int
    percent: float
    y: float
    height: float


def strata_of(record: WindowRecord) -> list[Stratum]:
    """Return the parts that have tokens, lowest first."""
    return list(_stacked(_tokens_by_kind(record).items(), budget_tokens=max(1, record.budget_tokens)))


def _stacked(parts: Iterable[tuple[str, int]], *, budget_tokens: int) -> Iterable[Stratum]:
    y = float(PANE_HEIGHT)
    for kind, tokens in parts:
        if tokens:
            share = tokens / budget_tokens
            height = max(THINNEST, round(share * PANE_HEIGHT, 1))
            y = round(y - height, 1)
            yield Stratum(kind, LABELS[kind], tokens, 100 * share, y, height)


def _tokens_by_kind(record: WindowRecord) -> dict[str, int]:
    tokens = dict.fromkeys(LABELS, 0)
    for entry in record.entries:
        tokens[entry.kind] += entry.tokens
    tokens["newest"] -= record.grounding.tokens
    tokens["grounding"] = record.grounding.tokens
    tokens["format"] = record.priming_tokens + record.tool_schema_tokens
    return tokens
