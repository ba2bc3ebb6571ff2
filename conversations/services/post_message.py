"""Store a user message with its empty reply, then announce both. What was acknowledged is never lost."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.access import require_active
from conversations.core.errors import ConversationNotFound, ReplyInProgress
from conversations.core.frames import MessageStored
from conversations.core.text import clean_content
from conversations.fanout import RUNS, publish, publish_frame
from conversations.models import Conversation, Message, Run

from .build_window import check_it_fits, draft_message
from .conversations import title_from
from .language import Language, language_of
from .limits import check_limits


@dataclass(frozen=True, slots=True)
class PostedMessage:
    """*created* is false if the message was here already; *cleaned* if characters had to be taken out of it."""

    message: Message
    reply: Message
    created: bool
    cleaned: bool = False

    def to_frame(self, conversation: uuid.UUID) -> MessageStored:
        """Return the acknowledgement."""
        return MessageStored(
            conversation=conversation,
            client_id=self.message.client_id,
            message=self.message.pk,
            reply=self.reply.pk,
            position=self.message.position,
            cleaned=self.cleaned,
        )


def post_message(
    *,
    user: User,
    conversation: Conversation,
    content: str,
    client_id: uuid.UUID,
    grounding: Sequence[Mapping[str, Any]] = (),
) -> PostedMessage:
    """Store *content* and a reply to be made, in one transaction. The same *client_id* is the same message.

    *grounding* is what was looked up for this message, best first: `{"text", "source", "score"}`. Raises an
    `InputError`, `PromptError` or `AccessError` before anything is stored.
    """
    require_active(user)
    if found := _find_posted(conversation, client_id):
        return found
    cleaned = clean_content(content)
    check_limits(user)
    with transaction.atomic():
        locked = lock_conversation(conversation)
        if found := _find_posted(locked, client_id):  # the same message, sent twice at once
            return found
        _refuse_while_replying(locked)
        posted = _store(locked, cleaned, client_id, grounding, was_cleaned=cleaned != content)
        transaction.on_commit(partial(_announce, locked, posted))
    return posted


def _find_posted(conversation: Conversation, client_id: uuid.UUID) -> PostedMessage | None:
    message = conversation.messages.filter(client_id=client_id).first()
    if message is None:
        return None
    return PostedMessage(message, message.children.filter(active=True).get(), created=False)


def lock_conversation(conversation: Conversation) -> Conversation:
    """Lock the conversation's row: whoever wants to add to the path waits here."""
    locked = (
        Conversation.objects.select_for_update(of=("self",))
        .select_related("scenario", "head")
        .filter(pk=conversation.pk, deleted_at=None)
        .first()
    )
    if locked is None:
        raise ConversationNotFound
    return locked


def _refuse_while_replying(conversation: Conversation) -> None:
    if conversation.messages.filter(state="streaming").exists():
        raise ReplyInProgress


def _store(
    conversation: Conversation,
    content: str,
    client_id: uuid.UUID,
    grounding: Sequence[Mapping[str, Any]],
    *,
    was_cleaned: bool,
) -> PostedMessage:
    language = language_of(conversation.scenario)
    head = conversation.head
    draft = draft_message(content, position=head.position + 1 if head else 0, language=language)
    check_it_fits(conversation, draft)
    message = Message.objects.create(
        conversation=conversation,
        parent=head,
        position=draft.position,
        role="user",
        content=content,
        content_tokens=draft.content_tokens,
        encoding=language.model.encoding,
        grounding=list(grounding),
        client_id=client_id,
    )
    reply = add_reply(conversation, message, language)
    conversation.title = conversation.title or title_from(content)
    conversation.save(update_fields=["title"])
    return PostedMessage(message, reply, created=True, cleaned=was_cleaned)


def add_reply(conversation: Conversation, message: Message, language: Language) -> Message:
    """Store the empty reply to *message*, the run that will make it, and the conversation's new head."""
    reply = Message.objects.create(
        conversation=conversation,
        parent=message,
        position=message.position + 1,
        role="assistant",
        state="streaming",
        encoding=language.model.encoding,
    )
    Run.objects.create(reply=reply)
    conversation.head = reply
    conversation.last_active_at = timezone.now()
    conversation.save(update_fields=["head", "last_active_at"])
    return reply


def _announce(conversation: Conversation, posted: PostedMessage) -> None:
    publish(RUNS, "waiting")
    publish_frame(posted.to_frame(conversation.public_id), conversation.public_id)
