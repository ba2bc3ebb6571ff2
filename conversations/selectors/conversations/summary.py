"""The rolling summary of a conversation as the window and pages read it: the versions of it that may be sent."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.db.models import Q, QuerySet, Subquery

from conversations.models import Conversation, Summary, SummaryState


def valid_summaries(conversation_id: int) -> QuerySet[Summary]:
    """Return the versions that may be sent: the path before their end is as it was, and nothing in them is excluded.

    A message that is on the path has its whole past on it, so the last one tells for all.
    """
    return Summary.objects.filter(conversation_id=conversation_id, last_message__active=True, stale=False)


class SendableSummaries(NamedTuple):
    """The version that is *in_use* as long as the window begins where it does, and the *newest*, which follows then.

    Mostly they are the same.
    """

    in_use: Summary
    newest: Summary


def sendable_summaries(conversation: Conversation) -> SendableSummaries | None:
    """Return which versions are sent, or None where there is none that still holds.

    A version that was undone is none of them: the current one comes last.
    """
    current = SummaryState.objects.filter(conversation=conversation.pk).values("current__number")
    versions = valid_summaries(conversation.pk).filter(number__lte=Subquery(current))
    either = Q(number=conversation.summary_version) | Q(number=Subquery(current))
    if found := list(versions.filter(either).order_by("number")):
        return SendableSummaries(in_use=found[0], newest=found[-1])
    return None


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
