"""Continue a share: a conversation of its reader, with the words of the share, and its pictures where they are shown.

Words alone: what a tool was called with, and what was thought, stay in the share.
"""

from __future__ import annotations

import datetime as dt

from django.db import transaction
from django.utils import timezone

from chatsite.accounts.attempts import Limit, TooManyAttempts, count_attempt
from chatsite.accounts.limits import effective_limits
from chatsite.accounts.models import User
from conversations.access import lock_admitted
from conversations.core.errors import LimitReached
from conversations.models import Conversation, Message, Picture, Share
from conversations.services.conversations.default_scenario import scenario_to_begin_with
from conversations.services.documents.storage_limit import check_storage
from conversations.services.limits.message_checks import check_messages_are_allowed

from .row_copy import COPIED_PICTURE_IDS, PICTURE_COLUMNS, PICTURE_FILES, RowCopy, show_copied_path
from .share_storage import free_share_bytes, share_storage_full

COPIES = Limit(20, dt.timedelta(hours=1))
# Without the names of their files: no page of the share shows those.
PICTURES = RowCopy(
    Picture,
    PICTURE_COLUMNS,
    {
        "conversation_id": "%(copy)s",
        "uploader_id": "%(user)s",
        "file_name": "''",
        "sent": "true",
        "created_at": "now()",
    },
    """conversations_picture AS original WHERE conversation_id = %(source)s
  AND id IN (SELECT unnest(picture_ids) FROM conversations_sharedmessage WHERE share_id = %(share)s)""",
)
# The original is a message of the share here.
MESSAGES = RowCopy(
    Message,
    ("role", "content", "content_tokens", "encoding", "state"),
    {
        "id": "original.copy_id",
        "conversation_id": "%(copy)s",
        "parent_id": "parent.copy_id",
        "position": "original.place",
        "step_of_id": "NULL",
        "active": "true",
        "reasoning": "''",
        "reasoning_tokens": "NULL",
        "reasoning_tokens_estimated": "false",
        "reasoning_seconds": "NULL",
        "name": "''",
        "copied_model": "original.made_by",
        "grounding": "'[]'",
        "picture_ids": COPIED_PICTURE_IDS,
        "tool_calls": "'[]'",
        "tool_call_id": "''",
        "kept_reasoning": "''",
        "grounding_tokens": "0",
        "pinned": "false",
        "excluded": "false",
        "never_recalled": "false",
        "last_forgotten": "false",
        "error_code": "''",
        "error_params": "'{}'",
        "client_id": "NULL",
        "created_at": "original.said_at",
    },
    "shown AS original LEFT JOIN shown AS parent ON parent.place = original.place - 1",
    before="""WITH shown AS MATERIALIZED (
  SELECT *, nextval(pg_get_serial_sequence('conversations_message', 'id')) AS copy_id FROM (
    SELECT *, row_number() OVER (ORDER BY number) - 1 AS place FROM conversations_sharedmessage
    WHERE share_id = %(share)s AND role IN ('user', 'assistant')
  ) AS numbered ORDER BY place
)""",
)


def continue_share(*, user: User, share: Share) -> Conversation:
    """Return a new conversation of *user* with the words of *share*, and its pictures where they are shown.

    It begins with the reader's own default scenario: that of the owner may be private. Raises `LimitReached`,
    `MessagesForbidden`, or `ShareStorageFull` or `DocumentStorageFull` where copies of texts or pictures have no room.
    """
    check_messages_are_allowed(effective_limits(user))
    try:
        count_attempt(f"share copies {user.pk}", COPIES)
    except TooManyAttempts as refusal:
        raise LimitReached(opens_at=refusal.opens_at) from refusal
    with transaction.atomic():
        lock_admitted(user)
        if share.size_bytes > free_share_bytes(user):
            raise share_storage_full()
        conversation = Conversation.objects.create(
            owner=user,
            scenario=scenario_to_begin_with(user, None),
            title=share.title,
            title_is_given=bool(share.title),
            copied_bytes=share.size_bytes,
            last_active_at=timezone.now(),
        )
        values = {"share": share.pk, "copy": conversation.pk, "user": user.pk, "source": share.conversation_id}
        for rows in (PICTURES, PICTURE_FILES, MESSAGES):
            rows.run(values)
        if share.shows_pictures:
            check_storage(user)
        show_copied_path(conversation)
    return conversation
