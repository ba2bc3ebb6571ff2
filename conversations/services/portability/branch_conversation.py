"""Branch a conversation: a copy of it up to one of its messages, which goes on by itself.

Copied are the messages of the active path with what was decided about each, the tool calls, the pictures and documents,
and what the conversation was set to. Requests, costs, window records, ratings, summaries and other versions stay with
the conversation that they were made for.
"""

from __future__ import annotations

import uuid
from functools import partial

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from chatsite.accounts.models import User
from conversations.access import find_message, lock_admitted
from conversations.core.errors import ReplyInProgress
from conversations.live.fanout import DOCUMENTS, publish
from conversations.models import Conversation, Document, DocumentFile, Message, Passage, Picture, ToolCall
from conversations.models.document import DocumentState
from conversations.services.documents.storage_limit import check_storage
from conversations.services.windows.active_path import lock_conversation

from .row_copy import (
    COPIED_PICTURE_IDS,
    PICTURE_COLUMNS,
    PICTURE_FILES,
    RowCopy,
    file_copy,
    join_copies,
    show_copied_path,
)

COPIED_SETTINGS = (
    *("scenario_id", "folder_id", "language_model", "effort", "summarises", "notes", "kept_out_of_recall"),
    *("searches_web", "title_is_given", "temporary_until"),
)
PICTURES = RowCopy(
    Picture,
    (*PICTURE_COLUMNS, "file_name", "sent", "created_at"),
    {"conversation_id": "%(copy)s", "uploader_id": "%(user)s"},
    """conversations_picture AS original WHERE conversation_id = %(source)s AND id IN (
  SELECT unnest(picture_ids) FROM conversations_message
  WHERE conversation_id = %(source)s AND active AND position <= %(last)s
)""",
)
DOCUMENT_FILES = file_copy(DocumentFile, "document")
PASSAGES = RowCopy(
    Passage,
    ("number", "heading", "text", "tokens", "search", "embedding"),
    {"document_id": "copy.id"},
    f"""conversations_passage AS original {join_copies("document", "original.document_id")}
WHERE copy.state = 'ready'""",
)
# Passages of documents of the conversation are those of its copy's documents; others name what they named.
COPIED_GROUNDING = """CASE WHEN original.grounding = '[]' THEN original.grounding ELSE (
    SELECT jsonb_agg(
      CASE WHEN copy.id IS NULL THEN passage ELSE passage || jsonb_build_object('document', copy.public_id) END
      ORDER BY place
    )
    FROM jsonb_array_elements(original.grounding) WITH ORDINALITY AS found(passage, place)
    LEFT JOIN conversations_document AS source
      ON source.public_id::text = passage ->> 'document' AND source.conversation_id = %(source)s
    LEFT JOIN conversations_document AS copy
      ON copy.digest = source.digest AND copy.conversation_id = %(copy)s
  ) END"""
# The model of a reply is kept with the copy: the requests that say it stay where they are.
COPIED_MODEL = """COALESCE(
    (SELECT language_model FROM conversations_completion WHERE reply_id = original.id ORDER BY id DESC LIMIT 1),
    (SELECT language_model FROM conversations_run WHERE reply_id = original.id),
    original.copied_model
  )"""
PATH = RowCopy(
    Message,
    (
        *("position", "active", "role", "content", "reasoning", "reasoning_tokens", "reasoning_tokens_estimated"),
        *("reasoning_seconds", "name", "tool_calls", "tool_call_id", "content_tokens", "grounding_tokens", "encoding"),
        *("pinned", "excluded", "never_recalled", "last_forgotten", "state", "error_code", "error_params"),
        "created_at",
    ),
    {
        "id": "path.copy_id",
        "conversation_id": "%(copy)s",
        "parent_id": "parent.copy_id",
        "step_of_id": "step_of.copy_id",
        "client_id": "NULL",
        "kept_reasoning": "''",
        "picture_ids": COPIED_PICTURE_IDS,
        "grounding": COPIED_GROUNDING,
        "copied_model": COPIED_MODEL,
    },
    """path
JOIN conversations_message AS original ON original.id = path.original_id
LEFT JOIN path AS parent ON parent.original_id = original.parent_id
LEFT JOIN path AS step_of ON step_of.original_id = original.step_of_id""",
    before="""WITH path AS MATERIALIZED (
  SELECT id AS original_id, nextval(pg_get_serial_sequence('conversations_message', 'id')) AS copy_id FROM (
    SELECT id FROM conversations_message
    WHERE conversation_id = %(source)s AND active AND position <= %(last)s ORDER BY position
  ) AS shown
)""",
)
# Positions on a path have no gaps: the copy of a message stands where it does.
TOOL_CALLS = RowCopy(
    ToolCall,
    (
        *("step", "index", "call_id", "tool", "source", "arguments", "needs_approval", "digest", "state"),
        *("error_code", "result", "created_at", "decided_at", "started_at", "ended_at"),
    ),
    {"reply_id": "reply.id", "message_id": "result.id", "kept_reasoning": "''"},
    """conversations_toolcall AS original
JOIN conversations_message AS original_reply ON original_reply.id = original.reply_id
  AND original_reply.conversation_id = %(source)s AND original_reply.active AND original_reply.position <= %(last)s
JOIN conversations_message AS reply
  ON reply.conversation_id = %(copy)s AND reply.active AND reply.position = original_reply.position
LEFT JOIN conversations_message AS original_result ON original_result.id = original.message_id
LEFT JOIN conversations_message AS result
  ON result.conversation_id = %(copy)s AND result.active AND result.position = original_result.position""",
)


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
        values = {"source": source.pk, "copy": branch.pk, "user": user.pk, "last": last.position}
        _copy_documents(user, source, branch)
        PICTURES.run(values)
        check_storage(user)
        for rows in (PICTURE_FILES, DOCUMENT_FILES, PASSAGES, PATH, TOOL_CALLS):
            rows.run(values)
        _mark_last_forgotten(branch)
        show_copied_path(branch)
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


def _mark_last_forgotten(branch: Conversation) -> None:
    last_forgotten = branch.messages.filter(active=True, position=branch.forgotten_before - 1, step_of=None)
    branch.messages.filter(last_forgotten=True).update(last_forgotten=False)
    last_forgotten.update(last_forgotten=True)
