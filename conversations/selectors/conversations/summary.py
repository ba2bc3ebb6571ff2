"""The rolling summary of a conversation as the window and pages read it: its current version, if that still holds."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from conversations.models import Conversation, Summary, SummaryState


def valid_summaries(conversation_id: int) -> QuerySet[Summary]:
    """Return the versions that may be sent: the path before their end is as it was, and nothing in them is excluded.

    A message that is on the path has its whole past on it, so the last one tells for all.
    """
    return Summary.objects.filter(conversation_id=conversation_id, last_message__active=True, stale=False)


def current_summary(conversation_id: int) -> Summary | None:
    """Return the current version, or None where there is none, or it does not hold any more."""
    state = SummaryState.objects.filter(conversation_id=conversation_id)
    return valid_summaries(conversation_id).filter(pk__in=state.values("current")).first()


def summary_state(conversation: Conversation) -> SummaryState | None:
    """Return the state of the conversation's summary with its current version; None where none was ever wanted."""
    return SummaryState.objects.select_related("current").filter(conversation=conversation).first()


def previous_summary(current: Summary) -> Summary | None:
    """Return the version that `undo` would go back to."""
    older = valid_summaries(current.conversation_id).filter(number__lt=current.number)
    return older.order_by("-number").first()


def exported_summaries(conversation: Conversation) -> list[dict[str, Any]]:
    """Return all versions as plain values, oldest first; one at most is *current*."""
    current = SummaryState.objects.filter(conversation=conversation).values_list("current", flat=True).first()
    return [
        {
            "version": version.number,
            "current": version.pk == current,
            "text": version.text,
            "stands_for_messages": version.messages,
            "before_position": version.covers_before + 1,
            "language_model": version.language_model,
            "edited_by_owner": version.edited,
            "created_at": version.created_at,
        }
        for version in conversation.summaries.order_by("number")
    ]
