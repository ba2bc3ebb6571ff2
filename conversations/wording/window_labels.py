"""Labels of the parts of a window, of pins and exclusions, and of the reasons why messages were left out of it."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from conversations.core.window.history import LeftOutReason
from conversations.core.window.window_record import Part, SummaryLeftOut

MARK_LABELS: Mapping[str, Promise] = {
    "in": gettext_lazy("In view"),
    "pinned": gettext_lazy("Pinned: always in view"),
    "excluded": gettext_lazy("Excluded: never sent"),
    "out": gettext_lazy("Out of view"),
    "recalled": gettext_lazy("Recalled for your last question"),
}
LEFT_OUT_LABELS: Mapping[LeftOutReason, Promise] = {
    "does_not_fit": gettext_lazy("did not fit"),
    "oversized": gettext_lazy("too large, so skipped"),
    "excluded": gettext_lazy("excluded"),
    "failed": gettext_lazy("the beginning of a reply that failed"),
    "empty": gettext_lazy("empty"),
    "incomplete_tool_turn": gettext_lazy("a tool call without its result"),
    "without_tools": gettext_lazy("this request has no tools, so their calls are left out"),
    "policy": gettext_lazy("left out by the window policy"),
}
# Why a summary that is kept was not sent, of the panel of a request.
SUMMARY_LEFT_OUT_LABELS: Mapping[SummaryLeftOut, Promise] = {
    "above_cap": gettext_lazy("Not sent with this request: it is longer than the scenario’s longest summary."),
    "does_not_fit": gettext_lazy("Not sent with this request: the window has no room for it."),
    "all_in_view": gettext_lazy("Not sent with this request: the whole conversation is in view."),
}
# In the order in which pages show them: what comes from the conversation stands together.
PART_LABELS: Mapping[Part, Promise] = {
    "system": gettext_lazy("System prompt and format"),
    "tools": gettext_lazy("Tools"),
    "notes": gettext_lazy("Your notes"),
    "pins": gettext_lazy("Pinned messages"),
    "summary": gettext_lazy("Summary"),
    "older": gettext_lazy("Older messages"),
    "recall": gettext_lazy("Recalled"),
    "grounding": gettext_lazy("Passages"),
    "newest": gettext_lazy("Newest message"),
    "tool_steps": gettext_lazy("Tool steps"),
    "text_so_far": gettext_lazy("Reply so far"),
}
# Why an older message was found, by the codes of `core.recall.rank_candidates`.
RECALL_REASON_LABELS: Mapping[str, Promise] = {
    "words": gettext_lazy("same words as your question"),
    "session": gettext_lazy("from a part of the conversation that fits your question"),
    "neighbour": gettext_lazy("next to a message that fits"),
    "feedback": gettext_lazy("same words as other matches"),
    "meaning": gettext_lazy("similar meaning"),
    "date": gettext_lazy("on or near a date that you name"),
    "speaker": gettext_lazy("said by the speaker you name"),
}
RECALL_ERROR_LABELS: Mapping[str, Promise] = {
    "look_up_too_costly": gettext_lazy("Looking through older messages took too long, so none was recalled."),
}
OTHER_RECALL_ERROR = gettext_lazy("Older messages could not be searched, so none was recalled.")
