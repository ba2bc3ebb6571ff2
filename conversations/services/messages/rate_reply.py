"""Rate a reply, change the rating, or remove it."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from conversations.access import find_reply
from conversations.core.errors import MessageNotFound, RemarkTooLong, ReplyInProgress
from conversations.core.text.storable_text import clean_typed_text
from conversations.models import Conversation, Message, Rating
from conversations.models.rating import MOST_REMARK_CHARACTERS, Verdict


def rate_reply(
    *, conversation: Conversation, reply_id: int, verdict: Verdict | None, remark: str | None = None
) -> Rating | None:
    """Store what the owner thinks of a reply and return it; no *verdict* removes the rating with its remark.

    A *remark* of None leaves the one that is there. Raises `RemarkTooLong`, `ReplyInProgress`, and for what is no reply
    `ConversationNotFound` or `MessageNotFound`.
    """
    reply = find_rateable(conversation, reply_id)
    cleaned = None if remark is None else clean_remark(remark)
    with transaction.atomic():
        found = Rating.objects.select_for_update().filter(reply=reply).first()
        if verdict is None:
            if found:
                found.delete()
            return None
        rating = found or Rating(reply=reply)
        rating.verdict, rating.rated_at = verdict, timezone.now()
        if cleaned is not None:
            rating.remark = cleaned
        rating.save()
    return rating


def find_rateable(conversation: Conversation, reply_id: int) -> Message:
    """Return a whole reply that has ended, on any branch."""
    reply = find_reply(conversation, reply_id)
    if reply.step_of_id:
        raise MessageNotFound
    if not reply.has_ended:
        raise ReplyInProgress
    return reply


def clean_remark(text: str) -> str:
    """Return *text* as it is stored. Raises `RemarkTooLong`."""
    cleaned = clean_typed_text(text)
    if len(cleaned) > MOST_REMARK_CHARACTERS:
        raise RemarkTooLong(most=MOST_REMARK_CHARACTERS, given=len(cleaned))
    return cleaned
