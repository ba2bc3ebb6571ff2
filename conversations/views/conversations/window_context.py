"""The template context of a window: the panel “What the model saw”, and the figures of the composer's meter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.functional import Promise

from conversations.core.window.window_record import WindowRecord
from conversations.selectors.conversations.recalled import RecalledRow
from conversations.selectors.conversations.window import WindowView
from conversations.selectors.conversations.window_coverage import Coverage
from conversations.wording.window_labels import (
    LEFT_OUT_LABELS,
    OTHER_RECALL_ERROR,
    RECALL_ERROR_LABELS,
    RECALL_REASON_LABELS,
    SUMMARY_LEFT_OUT_LABELS,
)

from .policy_labels import window_rules
from .window_bar import window_segments


def window_context(window: WindowView) -> dict[str, Any]:
    """*most_tokens* is what a full bar stands for."""
    record = window.record
    return {
        "window": window,
        "record": record,
        "left_out": [(LEFT_OUT_LABELS[row.message.reason], row) for row in window.left_out],
        "recalled": _with_reasons(window.recalled.included),
        "found_and_not_sent": _with_reasons(window.recalled.left_out),
        "looked_up_tokens": record.grounding.tokens + record.recall.tokens,
        "recall_error": _recall_error(record),
        "summary_left_out": SUMMARY_LEFT_OUT_LABELS.get(record.summary.left_out) if record.summary else None,
        "segments": window_segments(record),
        "free_tokens": record.parts["free"],
        "rules": window_rules(record),
        "most_tokens": max(record.tool_schema_tokens, *(row.entry.tokens for row in window.rows), 1),
    }


def _with_reasons(rows: Sequence[RecalledRow]) -> list[tuple[RecalledRow, list[Promise]]]:
    """Return each passage with what it was found by, in words; a reason that has none goes unsaid."""
    return [(row, [RECALL_REASON_LABELS[why] for why in row.entry.why if why in RECALL_REASON_LABELS]) for row in rows]


def _recall_error(record: WindowRecord) -> Promise | None:
    error = record.recall.error
    return RECALL_ERROR_LABELS.get(error, OTHER_RECALL_ERROR) if error else None


def window_summary(record: WindowRecord) -> dict[str, Any]:
    """Return the figures of a window, and what it holds of the conversation."""
    return {
        "language_model": record.language_model,
        "prompt_tokens": record.prompt_tokens,
        "budget_tokens": record.budget_tokens,
        **coverage_summary(Coverage.of(record)),
    }


def coverage_summary(coverage: Coverage) -> dict[str, Any]:
    """Return what a window holds of the conversation; *left_out* says why not, message → words."""
    return {
        "first_position": coverage.first_position,
        "has_pins_above": coverage.has_pins_above,
        "recalls": coverage.recalls,
        "recalled": coverage.recalled,
        "left_out": {message: str(LEFT_OUT_LABELS[reason]) for message, reason in coverage.left_out.items()},
    }
