"""The storage of shares: what a user's shares, and their copies of shares, take as the database keeps it."""

from __future__ import annotations

from django.conf import settings
from django.db import connection
from django.db.models import Sum

from chatsite.accounts.models import User
from conversations.core.errors import ShareStorageFull
from conversations.models import Conversation, Share
from conversations.services.documents.storage_limit import BYTES_PER_MEGABYTE

# Without reading what is stored out of line: PostgreSQL knows its size. A row that holds nothing takes about so much.
ROW_BYTES = 200
SIZE = f"""
SELECT coalesce(sum({ROW_BYTES} + pg_column_size(content) + pg_column_size(reasoning) + pg_column_size(calls)
                    + pg_column_size(sources) + coalesce(pg_column_size("window"), 0)), 0)
FROM conversations_sharedmessage WHERE share_id = %s AND number >= %s
"""  # noqa: S608  # a number of this file is put into it


def free_share_bytes(user: User) -> int:
    """Return how much more text the user's shares may hold: below 0 where they hold too much. Lock the user first."""
    kept: int = Share.objects.filter(owner=user).aggregate(bytes=Sum("size_bytes", default=0))["bytes"]
    copied: int = Conversation.objects.filter(owner=user).aggregate(bytes=Sum("copied_bytes", default=0))["bytes"]
    return settings.SHARE_STORAGE_MEGABYTES * BYTES_PER_MEGABYTE - kept - copied


def size_of_messages(share: Share, *, from_number: int = 1) -> int:
    """Return what the messages of a share take, from a number on."""
    with connection.cursor() as cursor:
        cursor.execute(SIZE, [share.pk, from_number])
        return int(cursor.fetchone()[0])


def share_storage_full() -> ShareStorageFull:
    return ShareStorageFull(megabytes=settings.SHARE_STORAGE_MEGABYTES)
