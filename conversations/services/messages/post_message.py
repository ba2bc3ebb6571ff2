"""Post a message: check it, store it with its empty reply, then announce both. What was acknowledged is never lost.

What is checked before a message is stored is read in four files: this one, `services.limits.message_checks` (the list),
`chatsite.accounts.limits` (where a user's limits come from) and `core.money.allowance` (what an allowance covers).
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from django.db import connection, transaction

from chatsite.accounts.models import User
from chatsite.names import clean_name
from conversations.access import lock_admitted, lock_admitted_session
from conversations.core.api.item_ids import response_id
from conversations.core.errors import ReplyInProgress
from conversations.core.frames.definitions import MessageStored
from conversations.core.prompt.messages import PromptMessage
from conversations.core.prompt.title_text import shorten_title
from conversations.core.text.markdown_marks import BULLET, without_marks
from conversations.core.text.storable_text import UNSTORABLE, clean_content
from conversations.core.window.history import HistoryMessage
from conversations.live.fanout import RUNS, publish, publish_frame
from conversations.models import ApiKey, Conversation, Message
from conversations.services.language_models.model_context import LONG_CHARACTERS, conversation_context
from conversations.services.language_models.run_parameters import use_parameters_of_run
from conversations.services.limits.message_checks import check_message
from conversations.services.pictures.pictures import take_pictures
from conversations.services.windows.active_path import add_reply, lock_conversation, lock_owned_conversation

MOST_LINE_CHARACTERS = 1_000  # that a title is looked for in
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


def post_message(
    *,
    user: User,
    conversation: Conversation,
    content: str,
    client_id: uuid.UUID,
    grounding: Sequence[Mapping[str, Any]] = (),
    pictures: Sequence[int] = (),
    parameters: Mapping[str, Any] | None = None,
    key: ApiKey | None = None,
) -> PostedMessage:
    """Store *content* and a reply to be made, in one transaction. The same *client_id* is the same message.

    *pictures* are ids of pictures of the conversation; with some, the content may be empty.

    Checked in this order: the user is admitted, the conversation is there, the message is not stored already, no other
    reply is being written in it, its pictures are there, there is something to send, and `check_message`. Raises an
    `InputError`, `PromptError` or `AccessError` before anything is stored.

    *grounding* is what was looked up for this message, best first: `{"text", "source", "score"}`. *parameters* are what
    a program asks for, for this reply alone: `services.language_models.run_parameters`. *key* is its key, locked.
    """
    count_ahead(content, conversation)
    with transaction.atomic():
        lock_admitted(user)
        locked = lock_conversation(conversation)
        use_parameters_of_run(locked, parameters or {})
        if found := find_posted(locked, client_id):
            return found
        return store_checked(
            locked, user=user, content=content, client_id=client_id, grounding=grounding, pictures=pictures, key=key
        )


def post_message_of_session(
    *,
    session_key: str,
    fingerprint: bytes,
    conversation: uuid.UUID,
    content: str,
    client_id: uuid.UUID,
    pictures: Sequence[int] = (),
) -> PostedMessage | None:
    """Store a message as `post_message` does, for a session that was found valid with that *fingerprint*.

    One statement finds and locks the session's user, one the conversation: nothing is looked up before the transaction.
    Returns None, and stores nothing, if the session has changed since, or its user is not admitted. Raises as
    `post_message` does.
    """
    with transaction.atomic():
        if (user_id := lock_admitted_session(session_key, fingerprint)) is None:
            return None
        locked = lock_owned_conversation(user_id, conversation)
        if found := find_posted(locked, client_id):
            return found
        return store_checked(locked, user=locked.owner, content=content, client_id=client_id, pictures=pictures)


def count_ahead(content: str, conversation: Conversation) -> None:
    """Count *content* without a connection, if it is long, before the transaction that stores it."""
    if is_counted_ahead(content):
        draft = PromptMessage("user", UNSTORABLE.sub("", content))
        conversation_context(conversation).count_ahead(drafts=[draft])


def is_counted_ahead(content: str) -> bool:
    return len(content) >= LONG_CHARACTERS


def find_posted(conversation: Conversation, client_id: uuid.UUID) -> PostedMessage | None:
    """Return the message if it is stored already. Raises `ReplyInProgress` while another one is being answered."""
    with connection.cursor() as cursor:
        cursor.execute(POSTED_OR_STREAMING, [conversation.pk, client_id])
        by_client_id = dict(cursor.fetchall())
    if client_id not in by_client_id:
        if by_client_id:
            [running] = by_client_id.values()
            raise ReplyInProgress(response_id=response_id(conversation.public_id, running))
        return None
    message = Message.objects.get(pk=by_client_id[client_id])
    # The newest, should it have been made again; on a branch that is no longer shown none is active.
    reply = message.children.filter(step_of=None).order_by("-id")[0]
    return PostedMessage(message, reply, created=False)


def store_checked(
    conversation: Conversation,
    *,
    user: User,
    content: str,
    client_id: uuid.UUID,
    grounding: Sequence[Mapping[str, Any]] = (),
    pictures: Sequence[int] = (),
    key: ApiKey | None = None,
) -> PostedMessage:
    """Check *content*, store it behind the head with a reply to be made, and announce both when the transaction ends.

    Posting adds a message behind the path, editing puts one in the place of another: both end here. User and
    conversation have to be locked. Raises an `InputError`, `PromptError` or `AccessError` before anything is stored.
    """
    taken = take_pictures(conversation, pictures)
    cleaned = clean_content(content, may_be_empty=bool(taken))
    draft = check_message(user, conversation, cleaned, pictures=taken, key=key)
    was_cleaned = bool(cleaned) and cleaned != content
    picture_ids = [picture.id for picture in taken]
    posted = _store(conversation, draft, cleaned, client_id, grounding, picture_ids, was_cleaned=was_cleaned)
    transaction.on_commit(partial(_announce, conversation, posted))
    return posted


def _store(
    conversation: Conversation,
    draft: HistoryMessage,
    content: str,
    client_id: uuid.UUID,
    grounding: Sequence[Mapping[str, Any]],
    picture_ids: list[int],
    *,
    was_cleaned: bool,
) -> PostedMessage:
    """Store *content*; the *draft* may have lines in place of pictures."""
    context = conversation_context(conversation)
    message = Message(
        conversation=conversation,
        parent=conversation.head,
        position=draft.position,
        role="user",
        content=content,
        content_tokens=draft.content_tokens,
        encoding=context.language_model.encoding,
        grounding=list(grounding),
        picture_ids=picture_ids,
        client_id=client_id,
    )
    conversation.title = conversation.title or title_from(content)
    reply = add_reply(conversation, message, context)
    return PostedMessage(message, reply, created=True, cleaned=was_cleaned)


def title_from(content: str) -> str:
    """Return the first line of *content* of which anything can be seen, without Markdown, shortened at a word."""
    lines = content.splitlines()
    as_read = (clean_name(without_marks(line[:MOST_LINE_CHARACTERS]).removeprefix(BULLET)) for line in lines)
    as_written = (clean_name(line[:MOST_LINE_CHARACTERS]) for line in lines)  # where it is marks alone
    return clean_name(shorten_title(next(filter(None, chain(as_read, as_written)), "")))


def _announce(conversation: Conversation, posted: PostedMessage) -> None:
    publish(RUNS, "waiting")
    publish_frame(posted.to_frame(conversation.public_id), conversation.public_id)
