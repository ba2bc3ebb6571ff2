"""The active path of a conversation: who may add to it, and how a reply is added."""

from __future__ import annotations

from django.utils import timezone

from conversations.core.errors import ConversationNotFound
from conversations.models import Conversation, Message, Run

from .language import Language


def lock_conversation(conversation: Conversation) -> Conversation:
    """Lock the conversation's row until the transaction ends: whoever wants to add to the path waits here."""
    locked = (
        Conversation.objects.select_for_update(of=("self",))
        .select_related("scenario", "head")
        .filter(pk=conversation.pk, deleted_at=None)
        .first()
    )
    if locked is None:
        raise ConversationNotFound
    return locked


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
