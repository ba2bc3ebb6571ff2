"""The rolling summary of a conversation as the window and pages read it: the versions of it that may be sent."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.db.models import QuerySet

from conversations.models import Conversation, Summary, SummaryState


def valid_summaries(conversation_id: int) -> QuerySet[Summary]:
    """Return the versions that may be sent and gone on from, newest first; the first one is the current one.

    The path before their end is as it was, nothing in them is excluded, and their owner has not undone them. A message
    that is on the path has its whole past on it, so the last one tells for all.
    """
    own = Summary.objects.filter(conversation_id=conversation_id)
    return own.filter(last_message__active=True, stale=False, undone=False).order_by("-number")


class SendableSummaries(NamedTuple):
    """The version that is *in_use* as long as the window begins where it does, and the *current* one.

    That follows when the beginning moves; mostly they are the same.
    """

    in_use: Summary
    current: Summary


def sendable_summaries(conversation: Conversation) -> SendableSummaries | None:
    """Return which versions are sent, or None where there is none that still holds.

    If the one that was sent last does not hold any more, the current one follows at once.
    """
    versions = valid_summaries(conversation.pk)
    if (current := versions.first()) is None:
        return None
    if conversation.summary_version in (None, current.number):
        return SendableSummaries(in_use=current, current=current)
    last_sent = versions.filter(number=conversation.summary_version).first()
    return SendableSummaries(in_use=last_sent or current, current=current)


def summary_state(conversation: Conversation) -> SummaryState | None:
    """Return the state of the conversation's summary; None where none was ever wanted."""
    return SummaryState.objects.filter(conversation=conversation).first()


def previous_summary(current: Summary) -> Summary | None:
    """Return the version that `undo` would go back to."""
    return valid_summaries(current.conversation_id).filter(number__lt=current.number).first()


def exported_summaries(conversation: Conversation) -> list[dict[str, Any]]:
    """Return all versions as plain values, oldest first; one at most is *current*."""
    current = valid_summaries(conversation.pk).first()
    return [
        {
            "version": version.number,
            "current": version == current,
            "text": version.text,
            "stands_for_messages": version.messages,
            "before_position": version.covers_before + 1,
            "last_message": version.last_message_id,
            "tokens": version.tokens,
            "encoding": version.encoding,
            "language_model": version.language_model,
            "edited_by_owner": version.edited,
            "undone_by_owner": version.undone,
            "stale": version.stale,
            "created_at": version.created_at,
        }
        for version in conversation.summaries.order_by("number")
    ]
