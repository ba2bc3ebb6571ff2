"""A question on its way in: a user message that is checked, stored with its empty reply, and announced.

Posting adds one behind the path, editing puts one in the place of another: both end here, with the same checks.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import connection, transaction

from chatsite.accounts.models import User
from conversations.core.errors import ReplyInProgress
from conversations.core.frames.definitions import MessageStored
from conversations.core.text.storable_text import clean_content
from conversations.core.window.history import HistoryMessage
from conversations.live.fanout import RUNS, publish, publish_frame
from conversations.models import Conversation, Message
from conversations.services.conversations.conversations import title_from
from conversations.services.counting.model_context import model_context
from conversations.services.windows.active_path import add_reply
from conversations.services.windows.build_window import check_it_fits, draft_message
from conversations.services.windows.message_limits import check_limits, check_message_length, check_money

POSTED_OR_STREAMING = """
SELECT client_id, id FROM conversations_message WHERE conversation_id = %s AND (client_id = %s OR state = 'streaming')
"""


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


def find_posted(conversation: Conversation, client_id: uuid.UUID) -> PostedMessage | None:
    """Return the message if it is stored already. Raises `ReplyInProgress` while another one is being answered."""
    with connection.cursor() as cursor:
        cursor.execute(POSTED_OR_STREAMING, [conversation.pk, client_id])
        by_client_id = dict(cursor.fetchall())
    if client_id not in by_client_id:
        if by_client_id:
            raise ReplyInProgress
        return None
    message = Message.objects.get(pk=by_client_id[client_id])
    # The newest, should it have been made again; on a branch that is no longer shown none is active.
    reply = message.children.filter(step_of=None).order_by("-id")[0]
    return PostedMessage(message, reply, created=False)


def add_question(
    conversation: Conversation,
    *,
    user: User,
    content: str,
    client_id: uuid.UUID,
    grounding: Sequence[Mapping[str, Any]] = (),
) -> PostedMessage:
    """Store *content* behind the head, and a reply to be made; both are announced when the transaction ends.

    User and conversation have to be locked. Raises an `InputError`, `PromptError` or `AccessError` before anything is
    stored.
    """
    cleaned = clean_content(content)
    draft = _checked_draft(user, conversation, cleaned)
    posted = _store(conversation, draft, client_id, grounding, was_cleaned=cleaned != content)
    transaction.on_commit(partial(_announce, conversation, posted))
    return posted


def _checked_draft(user: User, conversation: Conversation, content: str) -> HistoryMessage:
    """Return *content* as the newest message, counted, if it may be sent, fits and can be paid."""
    limits = check_limits(user)
    context, head = model_context(conversation.scenario), conversation.head
    draft = draft_message(content, position=head.position + 1 if head else 0, context=context)
    check_message_length(draft.content_tokens, limits)
    check_it_fits(conversation, draft)
    check_money(user, limits, conversation, draft)
    return draft


def _store(
    conversation: Conversation,
    draft: HistoryMessage,
    client_id: uuid.UUID,
    grounding: Sequence[Mapping[str, Any]],
    *,
    was_cleaned: bool,
) -> PostedMessage:
    context, content = model_context(conversation.scenario), draft.message.content
    message = Message(
        conversation=conversation,
        parent=conversation.head,
        position=draft.position,
        role="user",
        content=content,
        content_tokens=draft.content_tokens,
        encoding=context.language_model.encoding,
        grounding=list(grounding),
        client_id=client_id,
    )
    conversation.title = conversation.title or title_from(content)
    reply = add_reply(conversation, message, context)
    return PostedMessage(message, reply, created=True, cleaned=was_cleaned)


def _announce(conversation: Conversation, posted: PostedMessage) -> None:
    publish(RUNS, "waiting")
    publish_frame(posted.to_frame(conversation.public_id), conversation.public_id)
