"""The active path of a conversation: who may change it, how messages leave it, and how a reply is added."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from functools import partial
from typing import Any

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from chatsite.postgres.compiled_query import CompiledQuery
from chatsite.postgres.linked_insert import LinkedUpdate, insert_linked_rows
from conversations.access import IS_OWNED
from conversations.core.api.item_ids import response_id
from conversations.core.errors import ConversationNotFound, ReplyInProgress, ReplyInterrupted
from conversations.live.fanout import publish_list_change
from conversations.models import Conversation, Message, PathChange, Run
from conversations.models.run import RunHolder
from conversations.services.language_models.model_choice import choose_model
from conversations.services.language_models.model_context import ModelContext
from conversations.services.summaries.want_summary import path_changed, summarised_messages_changed

WITH_HEAD = Conversation.objects.select_related("scenario", "head", "owner")
FOR_UPDATE = "FOR NO KEY UPDATE OF conversations_conversation"
LOCKED = CompiledQuery(
    WITH_HEAD,
    f"WHERE conversations_conversation.id = %s AND conversations_conversation.deleted_at IS NULL {FOR_UPDATE}",
)
LOCKED_OWNED = CompiledQuery(WITH_HEAD, f"WHERE {IS_OWNED} {FOR_UPDATE}")
LOCK_STREAMING = "SELECT FROM conversations_message WHERE id = %s AND state = 'streaming' FOR NO KEY UPDATE"
# From each message that is marked as the last forgotten one up to the nearest message of the active path: that one
# and all above it are forgotten. If it is a question, another reply to it is shown, which needs it: then it stays.
FORGOTTEN = """
WITH RECURSIVE above AS (
  SELECT id, parent_id, position, role, active, true AS is_last FROM conversations_message
  WHERE conversation_id = %s AND last_forgotten
  UNION ALL
  SELECT parent.id, parent.parent_id, parent.position, parent.role, parent.active, false
  FROM above JOIN conversations_message parent ON parent.id = above.parent_id
  WHERE NOT above.active
)
SELECT coalesce(max(CASE WHEN role = 'user' AND NOT is_last THEN position ELSE position + 1 END), 0)
FROM above WHERE active
"""
MOVE_HEAD = """
UPDATE conversations_conversation AS conversation SET head_id = {reply}.id, last_active_at = %s, title = %s,
  archived = false, retention_ends_at = NULL
FROM {reply} WHERE conversation.id = %s
"""


def lock_conversation(conversation: Conversation) -> Conversation:
    """Lock the conversation's row until the transaction ends: all that change the path wait here.

    A worker that stores a step of its reply does not: its rows only name the conversation, and it holds the reply.
    """
    return _lock(LOCKED, conversation.pk)


def lock_owned_conversation(owner_id: int, public_id: uuid.UUID) -> Conversation:
    """Lock the conversation that the user owns, as `access.find_conversation` finds it, in the same way."""
    return _lock(LOCKED_OWNED, public_id, owner_id)


def _lock(query: CompiledQuery[Conversation], *arguments: Any) -> Conversation:
    locked = query.first(*arguments)
    if locked is None or _has_lost_its_head(locked):  # the transaction before changed what it is joined with
        locked = query.first(*arguments)
    if locked is None:
        raise ConversationNotFound
    return locked


def _has_lost_its_head(conversation: Conversation) -> bool:
    """Tell whether it was joined as of before the wait: PostgreSQL takes its new row, and the old joined ones."""
    return conversation.head_id is not None and conversation.head is None


def refuse_while_replying(conversation: Conversation) -> None:
    """Raise `ReplyInProgress` if a reply of the conversation is being written."""
    running = conversation.messages.filter(state="streaming").values_list("pk", flat=True).first()
    if running is not None:
        raise ReplyInProgress(response_id=response_id(conversation.public_id, running))


def lock_if_streaming(reply_id: int) -> bool:
    """Keep the reply from ending until the transaction does. Returns False if it has ended."""
    with connection.cursor() as cursor:
        cursor.execute(LOCK_STREAMING, [reply_id])
        return cursor.fetchone() is not None


def lock_streaming(reply_id: int, *, holder: RunHolder | None = None) -> None:
    """Do the same. Raises `ReplyInterrupted` if it has ended, or *holder* does not hold its run any more."""
    if not lock_if_streaming(reply_id):
        raise ReplyInterrupted
    if holder and not Run.objects.filter(reply_id=reply_id, worker=holder.worker, attempt=holder.attempt).exists():
        raise ReplyInterrupted


def leave_path(conversation: Conversation, position: int, *, head_id: int | None) -> None:
    """Take all messages from *position* on off the path; it ends with *head_id* then, which the caller stores.

    What enters the path in their place is indexed with this change, too. What was forgotten below
    *position* stays forgotten.
    """
    PathChange.objects.create(conversation=conversation, position=position)
    conversation.messages.filter(active=True, position__gte=position).update(active=False)
    path_changed(conversation.pk, position)
    conversation.head_id = head_id
    if conversation.forgotten_before:
        update_forgotten(conversation)


def enter_path(conversation: Conversation, branch: Collection[int]) -> None:
    """Put the messages of *branch* on the path, and the steps to those of them that are replies.

    What was forgotten there is forgotten again.
    """
    Message.objects.filter(Q(pk__in=branch) | Q(step_of__in=branch)).update(active=True)
    update_forgotten(conversation)


def update_forgotten(conversation: Conversation) -> None:
    """Store the position before which the active path is forgotten, as it follows from the marks on all branches."""
    with connection.cursor() as cursor:
        cursor.execute(FORGOTTEN, [conversation.pk])
        [(position,)] = cursor.fetchall()
    if position != conversation.forgotten_before:
        conversation.forgotten_before = position
        conversation.save(update_fields=["forgotten_before"])
        summarised_messages_changed(conversation.pk, 0)  # one stands for all before its end


def add_reply(
    conversation: Conversation,
    message: Message,
    context: ModelContext,
    *,
    reply_reserve_tokens: int | None = None,
    position: int | None = None,
) -> Message:
    """Store the empty reply to *message*, the run that will make it, and the conversation with its new head.

    A message that is not stored yet is stored with them. *reply_reserve_tokens* is the room of this reply alone. Its
    *position* is behind its steps, where it has some already.
    """
    reply = Message(
        conversation=conversation,
        parent=message,
        position=message.position + 1 if position is None else position,
        role="assistant",
        state="streaming",
        encoding=context.language_model.encoding,
    )
    choice = choose_model(conversation)
    run = Run(
        reply=reply,
        language_model=choice.configured.name,
        effort=choice.effort,
        reply_reserve_tokens=reply_reserve_tokens,
        parameters=conversation.parameters_of_run or {},
    )
    now, new = timezone.now(), [*([] if message.pk else [message]), reply, run]
    move_head = MOVE_HEAD.format(reply=f"row{new.index(reply)}")
    insert_linked_rows(*new, update=LinkedUpdate(move_head, [now, conversation.title, conversation.pk]))
    conversation.head, conversation.last_active_at = reply, now
    _leave_archive(conversation)
    return reply


def _leave_archive(conversation: Conversation) -> None:
    """What goes on leaves the archive, as `MOVE_HEAD` stores, and is not deleted soon: its owner works with it."""
    if conversation.archived or conversation.retention_ends_at:
        conversation.archived, conversation.retention_ends_at = False, None
        transaction.on_commit(partial(publish_list_change, conversation.owner_id, [conversation.public_id]))
