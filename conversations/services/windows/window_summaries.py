"""The versions of a conversation's summary that a window may send, counted for its language model."""

from __future__ import annotations

from typing import NamedTuple

from conversations.core.window.summary import WindowSummary
from conversations.core.window.window_record import SummaryRecord
from conversations.models import Conversation, Summary
from conversations.selectors.conversations.summary import sendable_summaries, valid_summaries
from conversations.services.language_models.model_context import conversation_context


class WindowSummaries(NamedTuple):
    """The version to send with a window that begins where the last one did, and the *current* one, for any other."""

    in_use: WindowSummary | None = None
    current: WindowSummary | None = None


def window_summaries(conversation: Conversation) -> WindowSummaries:
    """Return the versions that may be sent."""
    sendable = sendable_summaries(conversation)
    if sendable is None:
        return WindowSummaries()
    return WindowSummaries(_counted(sendable.in_use, conversation), _counted(sendable.current, conversation))


def same_summary(conversation: Conversation, sent: SummaryRecord | None) -> WindowSummaries:
    """Return the version that another window of the same request has, and no other, as long as it may be sent."""
    stored = valid_summaries(conversation.pk).filter(pk=sent.id).first() if sent else None
    same = _counted(stored, conversation) if stored else None
    return WindowSummaries(same, same)


def _counted(stored: Summary, conversation: Conversation) -> WindowSummary:
    summary = WindowSummary(stored.pk, stored.number, stored.text, stored.tokens, stored.covers_before)
    context = conversation_context(conversation)
    if stored.encoding == context.language_model.encoding:
        return summary
    return summary._replace(content_tokens=context.content_tokens(summary.message))
