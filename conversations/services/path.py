"""The active path of a conversation: who may change it, how messages leave it, and how a reply is added."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Q
from django.utils import timezone

from conversations.core.errors import ConversationNotFound, ReplyInterrupted
from conversations.models import Conversation, Message, Run

from .language import Language


def lock_conversation(conversation: Conversation) -> Conversation:
    """Lock the conversation's row until the transaction ends: whoever wants to change the path waits here.

    A worker that stores a step of its reply does not: its rows only name the conversation, and it holds the reply.
    """
    locked = (
        Conversation.objects.select_for_update(of=("self",), no_key=True)
        .select_related("scenario", "head")
        .filter(pk=conversation.pk, deleted_at=None)
        .first()
    )
    if locked is None:
        raise ConversationNotFound
    return locked


def hold_streaming(reply_id: int) -> bool:
    """Keep the reply from ending until the transaction does. Returns False if it has ended."""
    return Message.objects.select_for_update(no_key=True).filter(pk=reply_id, state="streaming").exists()


def lock_streaming(reply_id: int) -> None:
    """Do the same. Raises `ReplyInterrupted` if it has ended."""
    if not hold_streaming(reply_id):
        raise ReplyInterrupted


def leave_path(conversation: Conversation, position: int, *, head_id: int | None) -> None:
    """Take all messages from *position* on off the path; it ends with *head_id* then, which the caller stores."""
    conversation.messages.filter(active=True, position__gte=position).update(active=False)
    conversation.head_id = head_id


def enter_path(branch: Collection[int]) -> None:
    """Put the messages of *branch* on the path, and the steps to those of them that are replies."""
    Message.objects.filter(Q(pk__in=branch) | Q(step_of__in=branch)).update(active=True)


def add_reply(conversation: Conversation, message: Message, language: Language) -> Message:
    """Store the empty reply to *message*, the run that will make it, and the conversation with its new head."""
    reply = Message.objects.create(
        conversation=conversation,
        parent=message,
        position=message.position + 1,
        role="assistant",
        state="streaming",
        encoding=language.language_model.encoding,
    )
    Run.objects.create(reply=reply)
    conversation.head = reply
    conversation.last_active_at = timezone.now()
    conversation.save(update_fields=["head", "last_active_at", "title"])
    return reply
