"""Branch a conversation: a copy of it up to one of its messages, which goes on by itself.

Copied are the messages of the active path with what was decided about each, the tool calls, the pictures and documents,
and what the conversation was set to. Requests, costs, window records, ratings, summaries and other versions stay with
the conversation that they were made for. The database copies rows by itself: a path may have 100,000 messages.
"""

from __future__ import annotations

import uuid
from functools import partial
from typing import Any

from django.db import connection, transaction
from django.db.models import Model
from django.utils import timezone
from django.utils.translation import gettext

from chatsite.accounts.models import User
from conversations.access import find_message, lock_admitted
from conversations.core.errors import ReplyInProgress
from conversations.live.fanout import DOCUMENTS, MESSAGES, publish
from conversations.models import (
    Conversation,
    Document,
    DocumentFile,
    Message,
    Passage,
    PathChange,
    Picture,
    PictureFile,
    ToolCall,
)
from conversations.models.document import DocumentState
from conversations.services.documents.storage_limit import check_storage
from conversations.services.windows.active_path import lock_conversation

COPIED_SETTINGS = (
    *("scenario_id", "folder_id", "language_model", "effort", "summarises", "notes", "kept_out_of_recall"),
    *("searches_web", "title_is_given", "temporary_until"),
)
# Documents and pictures are the same in both where their digests are: each is once in a conversation.
COPY_PICTURES = """
INSERT INTO conversations_picture (conversation_id, uploader_id, {columns})
SELECT %(branch)s, %(user)s, {columns} FROM conversations_picture WHERE conversation_id = %(source)s AND id IN (
  SELECT unnest(picture_ids) FROM conversations_message
  WHERE conversation_id = %(source)s AND active AND position <= %(last)s
)
"""
COPY_PICTURE_FILES = """
INSERT INTO conversations_picturefile (picture_id, {columns})
SELECT copy.id, {columns} FROM conversations_picturefile AS file
JOIN conversations_picture AS original ON original.id = file.picture_id AND original.conversation_id = %(source)s
JOIN conversations_picture AS copy ON copy.digest = original.digest AND copy.conversation_id = %(branch)s
"""
COPY_DOCUMENT_FILES = """
INSERT INTO conversations_documentfile (document_id, {columns})
SELECT copy.id, {columns} FROM conversations_documentfile AS file
JOIN conversations_document AS original ON original.id = file.document_id AND original.conversation_id = %(source)s
JOIN conversations_document AS copy ON copy.digest = original.digest AND copy.conversation_id = %(branch)s
"""
COPY_PASSAGES = """
INSERT INTO conversations_passage (document_id, {columns})
SELECT copy.id, {passage_columns} FROM conversations_passage AS passage
JOIN conversations_document AS original ON original.id = passage.document_id AND original.conversation_id = %(source)s
JOIN conversations_document AS copy ON copy.digest = original.digest AND copy.conversation_id = %(branch)s
WHERE copy.state = 'ready'
"""
# The model of a reply is kept with the copy: the requests that say it stay where they are.
COPY_MESSAGES = """
WITH path AS MATERIALIZED (
  SELECT id AS original, nextval(pg_get_serial_sequence('conversations_message', 'id')) AS copy FROM (
    SELECT id FROM conversations_message
    WHERE conversation_id = %(source)s AND active AND position <= %(last)s ORDER BY position
  ) AS shown
)
INSERT INTO conversations_message
  (id, conversation_id, parent_id, step_of_id, client_id, kept_reasoning, picture_ids, grounding, copied_model,
   {columns})
SELECT
  path.copy, %(branch)s, parent.copy, step_of.copy, NULL, '',
  ARRAY(
    SELECT copy.id FROM unnest(message.picture_ids) WITH ORDINALITY AS named(id, place)
    JOIN conversations_picture AS original ON original.id = named.id
    JOIN conversations_picture AS copy ON copy.digest = original.digest AND copy.conversation_id = %(branch)s
    ORDER BY place
  ),
  CASE WHEN message.grounding = '[]' THEN message.grounding ELSE (
    SELECT jsonb_agg(
      CASE WHEN copy.id IS NULL THEN passage ELSE passage || jsonb_build_object('document', copy.public_id) END
      ORDER BY place
    )
    FROM jsonb_array_elements(message.grounding) WITH ORDINALITY AS found(passage, place)
    LEFT JOIN conversations_document AS original
      ON original.public_id::text = passage ->> 'document' AND original.conversation_id = %(source)s
    LEFT JOIN conversations_document AS copy
      ON copy.digest = original.digest AND copy.conversation_id = %(branch)s
  ) END,
  COALESCE(
    (SELECT language_model FROM conversations_completion WHERE reply_id = message.id ORDER BY id DESC LIMIT 1),
    (SELECT language_model FROM conversations_run WHERE reply_id = message.id),
    message.copied_model
  ),
  {message_columns}
FROM path
JOIN conversations_message AS message ON message.id = path.original
LEFT JOIN path AS parent ON parent.original = message.parent_id
LEFT JOIN path AS step_of ON step_of.original = message.step_of_id
"""
# Positions on a path have no gaps: the copy of a message stands where it does.
COPY_CALLS = """
INSERT INTO conversations_toolcall (reply_id, message_id, kept_reasoning, {columns})
SELECT reply.id, result.id, '', {call_columns} FROM conversations_toolcall AS call
JOIN conversations_message AS original ON original.id = call.reply_id
  AND original.conversation_id = %(source)s AND original.active AND original.position <= %(last)s
JOIN conversations_message AS reply
  ON reply.conversation_id = %(branch)s AND reply.active AND reply.position = original.position
LEFT JOIN conversations_message AS original_result ON original_result.id = call.message_id
LEFT JOIN conversations_message AS result
  ON result.conversation_id = %(branch)s AND result.active AND result.position = original_result.position
"""


def branch_conversation(*, user: User, conversation: Conversation, message_id: int) -> Conversation:
    """Return a new conversation of *user*, a copy of *conversation* up to and with the message.

    Raises `MessageNotFound` for a message that is not shown, `ReplyInProgress` for a reply that is still being written,
    `DocumentStorageFull` where the copies of documents and pictures have no room.
    """
    with transaction.atomic():
        lock_admitted(user)
        source = lock_conversation(conversation)
        last = find_message(source, message_id)
        last = last.step_of or last
        if not last.has_ended:
            raise ReplyInProgress
        branch = _begin(user, source, last)
        values = {"source": source.pk, "branch": branch.pk, "user": user.pk, "last": last.position}
        _copy_documents(user, source, branch)
        _run(COPY_PICTURES, values, Picture, "id", "conversation_id", "uploader_id")
        check_storage(user)
        _run(COPY_PICTURE_FILES, values, PictureFile, "picture_id")
        _run(COPY_DOCUMENT_FILES, values, DocumentFile, "document_id")
        _run(COPY_PASSAGES, values, Passage, "id", "document_id")
        _copy_path(branch, values)
    return branch


def _begin(user: User, source: Conversation, last: Message) -> Conversation:
    copied = {name: getattr(source, name) for name in COPIED_SETTINGS}
    keeps_anchor = source.anchor_position is not None and source.anchor_position <= last.position
    return Conversation.objects.create(
        owner=user,
        title=branch_title(source.title),
        anchor_position=source.anchor_position if keeps_anchor else None,
        forgotten_before=min(source.forgotten_before, last.position + 1),
        last_active_at=timezone.now(),
        **copied,
    )


def branch_title(title: str) -> str:
    """Return the title of a branch, as long as a title may be; a branch of a branch is not marked twice."""
    mark = gettext(" (branch)")
    most = Conversation._meta.get_field("title").max_length or 0
    return title if title.endswith(mark) else title[: most - len(mark)] + mark


def _copy_documents(user: User, source: Conversation, branch: Conversation) -> None:
    """Copy the rows of documents; one that is not read yet is read again, and one that can't be read stays behind."""
    documents = list(source.documents.exclude(state=DocumentState.FAILED).order_by("pk"))
    for document in documents:
        if not document.is_ready:
            document.state, document.percent, document.attempt = DocumentState.WAITING, 0, 0
        document.pk, document.public_id = None, uuid.uuid4()
        document.conversation, document.uploader = branch, user
        document.worker, document.lease_until = "", None
    Document.objects.bulk_create(documents)
    if any(not document.is_ready or document.embedded_count < document.passage_count for document in documents):
        transaction.on_commit(partial(publish, DOCUMENTS, "waiting"))


def _copy_path(branch: Conversation, values: dict[str, Any]) -> None:
    own = ("id", "conversation_id", "parent_id", "step_of_id", "client_id", "kept_reasoning")
    _run(COPY_MESSAGES, values, Message, *own, "picture_ids", "grounding", "copied_model")
    _run(COPY_CALLS, values, ToolCall, "id", "reply_id", "message_id", "kept_reasoning")
    PathChange.objects.create(conversation=branch, position=0)
    branch.head = branch.messages.get(active=True, position=values["last"])
    last_forgotten = branch.messages.filter(active=True, position=branch.forgotten_before - 1, step_of=None)
    branch.messages.filter(last_forgotten=True).update(last_forgotten=False)
    last_forgotten.update(last_forgotten=True)
    branch.has_pins = branch.messages.filter(pinned=True).exists()
    branch.save(update_fields=["head", "has_pins"])
    transaction.on_commit(partial(publish, MESSAGES, "stored"))


def _run(statement: str, values: dict[str, Any], model: type[Model], *own: str) -> None:
    """Run a statement that copies all columns of *model* but its *own* ones, which it names itself."""
    names = [field.column for field in model._meta.concrete_fields if field.column not in own]
    quoted = [connection.ops.quote_name(name) for name in names if name]
    columns = {
        "columns": ", ".join(quoted),
        "message_columns": ", ".join(f"message.{name}" for name in quoted),
        "passage_columns": ", ".join(f"passage.{name}" for name in quoted),
        "call_columns": ", ".join(f"call.{name}" for name in quoted),
    }
    with connection.cursor() as cursor:
        cursor.execute(statement.format(**columns), values)
