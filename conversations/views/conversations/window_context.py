"""The template context of a window: the panel “What the model saw”, and the figures of the composer's meter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext

from conversations.core.window.window_record import WindowRecord
from conversations.selectors.conversations.recalled import RecalledRow
from conversations.selectors.conversations.window import WindowView
from conversations.selectors.conversations.window_coverage import Coverage
from conversations.wording.model_labels import model_label
from conversations.wording.window_labels import (
    LEFT_OUT_LABELS,
    OTHER_RECALL_ERROR,
    RECALL_ERROR_LABELS,
    RECALL_REASON_LABELS,
    SUMMARY_LEFT_OUT_LABELS,
)

from .policy_labels import window_rules
from .window_bar import window_segments


class FoundPassage(NamedTuple):
    """A recalled passage, sent or not, with what it was found by, and why the window holds its message not whole."""

    row: RecalledRow
    reasons: Sequence[str | Promise]
    left_out: Promise | None


def window_context(window: WindowView) -> dict[str, Any]:
    """*most_tokens* is what a full bar stands for. What recall has found is told of there alone."""
    record, found = window.record, window.recalled
    not_whole = {out.message: LEFT_OUT_LABELS[out.reason] for out in record.left_out}
    told = {row.entry.message for row in (*found.included, *found.left_out)}
    return {
        "window": window,
        "record": record,
        "seen_by": model_label(record.language_model),
        "left_out": [
            (LEFT_OUT_LABELS[row.message.reason], row) for row in window.left_out if row.message.message not in told
        ],
        "recalled": [FoundPassage(row, _reasons(row), None) for row in found.included],
        "found_and_not_sent": [
            FoundPassage(row, _reasons(row), not_whole.get(row.entry.message)) for row in found.left_out
        ],
        "looked_up_tokens": record.grounding.tokens + record.recall.tokens,
        "recall_error": _recall_error(record),
        "summary_left_out": SUMMARY_LEFT_OUT_LABELS.get(record.summary.left_out) if record.summary else None,
        "segments": window_segments(record),
        "free_tokens": record.parts["free"],
        "rules": window_rules(record),
        "most_tokens": max(record.tool_schema_tokens, *(row.entry.tokens for row in window.rows), 1),
    }


def _reasons(row: RecalledRow) -> list[str | Promise]:
    """Return what a passage was found by, in words; a reason that has none goes unsaid."""
    return [_reason(row, why) for why in row.entry.why if why in RECALL_REASON_LABELS]


def _reason(row: RecalledRow, why: str) -> str | Promise:
    if why != "words" or not row.words:
        return RECALL_REASON_LABELS[why]
    quoted = [gettext("“%(word)s”") % {"word": word} for word in row.words]
    return ngettext("found by the word %(words)s", "found by the words %(words)s", len(quoted)) % {
        "words": ", ".join(quoted)
    }


def _recall_error(record: WindowRecord) -> Promise | None:
    error = record.recall.error
    return RECALL_ERROR_LABELS.get(error, OTHER_RECALL_ERROR) if error else None


def window_summary(record: WindowRecord, coverage: Coverage) -> dict[str, Any]:
    """Return the figures of a window, and what it holds of the conversation, its *coverage*."""
    return {
        "language_model": record.language_model,
        "model": model_label(record.language_model),
        "prompt_tokens": record.prompt_tokens,
        "budget_tokens": record.budget_tokens,
        **coverage_summary(coverage),
    }


def coverage_summary(coverage: Coverage) -> dict[str, Any]:
    """Return what a window holds of the conversation; *left_out* says why not, message → words."""
    return {
        "first_position": coverage.first_position,
        "forgotten_before": coverage.forgotten_before,
        "has_pins_above": coverage.has_pins_above,
        "recalls": coverage.recalls,
        "recalled": coverage.recalled,
        "recalled_positions": coverage.recalled_positions,
        "left_out": {message: str(LEFT_OUT_LABELS[reason]) for message, reason in coverage.left_out.items()},
    }
