"""Manage shares: their links, their ends, what is left of them, and copies that readers go on with."""

from __future__ import annotations

import datetime as dt
from functools import partial

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from chatsite.accounts.attempts import Limit, TooManyAttempts, count_attempt
from chatsite.accounts.limits import effective_limits
from chatsite.accounts.models import User
from chatsite.accounts.second_factors.secret_encryption import decrypt_secret_or_none
from conversations.access import lock_admitted
from conversations.core.errors import LimitReached
from conversations.live.fanout import MESSAGES, publish
from conversations.models import Conversation, PathChange, Share
from conversations.services.conversations.conversations import scenario_to_begin_with
from conversations.services.documents.storage_limit import check_storage
from conversations.services.limits.message_checks import check_messages_are_allowed

from .share_storage import free_share_bytes, share_storage_full

COPIES = Limit(20, dt.timedelta(hours=1))

# Words alone: what a tool was called with, and what was thought, stay in the share.
COPY_MESSAGES = """
WITH shown AS MATERIALIZED (
  SELECT *, nextval(pg_get_serial_sequence('conversations_message', 'id')) AS copy FROM (
    SELECT *, row_number() OVER (ORDER BY number) - 1 AS place FROM conversations_sharedmessage
    WHERE share_id = %(share)s AND role IN ('user', 'assistant')
  ) AS numbered ORDER BY place
)
INSERT INTO conversations_message
  (id, conversation_id, parent_id, position, active, role, content, content_tokens, encoding, state, created_at,
   copied_model, picture_ids, grounding, grounding_tokens, tool_calls, tool_call_id, pinned, excluded, error_code,
   error_params)
SELECT shown.copy, %(conversation)s, before.copy, shown.place, true, shown.role, shown.content, shown.content_tokens,
  shown.encoding, shown.state, shown.said_at, shown.made_by,
  ARRAY(
    SELECT copied.id FROM unnest(shown.picture_ids) WITH ORDINALITY AS named(id, place)
    JOIN conversations_picture AS original ON original.id = named.id
    JOIN conversations_picture AS copied
      ON copied.digest = original.digest AND copied.conversation_id = %(conversation)s
    ORDER BY named.place
  ),
  '[]', 0, '[]', '', false, false, '', '{}'
FROM shown LEFT JOIN shown AS before ON before.place = shown.place - 1
"""
# Without the names of their files: no page of the share shows those.
COPY_PICTURES = """
INSERT INTO conversations_picture
  (conversation_id, uploader_id, digest, media_type, width, height, size_bytes, file_name, alt_text, sent, created_at)
SELECT %(conversation)s, %(user)s, digest, media_type, width, height, size_bytes, '', alt_text, true, now()
FROM conversations_picture WHERE conversation_id = %(source)s
  AND id IN (SELECT unnest(picture_ids) FROM conversations_sharedmessage WHERE share_id = %(share)s)
"""
COPY_FILES = """
INSERT INTO conversations_picturefile (picture_id, content)
SELECT copied.id, file.content FROM conversations_picturefile AS file
JOIN conversations_picture AS original ON original.id = file.picture_id AND original.conversation_id = %(source)s
JOIN conversations_picture AS copied
  ON copied.digest = original.digest AND copied.conversation_id = %(conversation)s
"""


def link_of(share: Share) -> str:
    """Return the link, to be copied again; blank if it was made with another `SECRET_KEY`: it still works."""
    token = decrypt_secret_or_none(share.sealed_token)
    return f"{settings.SITE_URL}{reverse('conversations:shared', args=[token])}" if token else ""


def revoke_share(share: Share) -> None:
    """End it at once, for all."""
    Share.objects.filter(pk=share.pk, revoked_at=None).update(revoked_at=timezone.now())


def change_end(share: Share, ends_at: dt.datetime | None) -> None:
    """Let it end at another moment, or not by itself."""
    Share.objects.filter(pk=share.pk).update(ends_at=ends_at)


def count_opening(share: Share) -> None:
    """Count that it was opened. Of who did nothing is kept."""
    Share.objects.filter(pk=share.pk).update(opened=F("opened") + 1)


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
        values = {"share": share.pk, "conversation": conversation.pk, "user": user.pk, "source": share.conversation_id}
        with connection.cursor() as cursor:
            for statement in (COPY_PICTURES, COPY_FILES, COPY_MESSAGES):
                cursor.execute(statement, values)
        if share.shows_pictures:
            check_storage(user)
        PathChange.objects.create(conversation=conversation, position=0)
        conversation.head = conversation.messages.order_by("-position").first()
        conversation.save(update_fields=["head"])
        transaction.on_commit(partial(publish, MESSAGES, "stored"))
    return conversation
