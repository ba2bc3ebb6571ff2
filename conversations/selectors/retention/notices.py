"""What owners are told of retention: which of their conversations are deleted soon, and whether any is held."""

from __future__ import annotations

from typing import NamedTuple

from django.db import connection
from django.db.models import QuerySet

from chatsite.accounts.models import User
from conversations.models import Conversation

from .deadlines import UNDER_RETENTION

# As UNDER_RETENTION and `holds_about` say. Each page and each switch of conversations asks: to have Django compose this
# took 5 of the 29 ms that a page takes.
NOTICES = """
SELECT (
  SELECT count(*) FROM conversations_conversation
  WHERE owner_id = %(user)s AND deleted_at IS NULL AND temporary_until IS NULL AND retention_ends_at IS NOT NULL
), EXISTS (
  SELECT FROM conversations_legalhold AS hold LEFT JOIN conversations_conversation AS held ON held.id = conversation_id
  WHERE hold.lifted_at IS NULL AND (hold.user_id = %(user)s OR held.owner_id = %(user)s)
)
"""


class RetentionNotices(NamedTuple):
    """*deleted_soon* counts conversations; *has_holds* says whether the user, or a conversation of theirs, is held."""

    deleted_soon: int
    has_holds: bool


NO_NOTICES = RetentionNotices(deleted_soon=0, has_holds=False)


def retention_notices(user: User) -> RetentionNotices:
    """Return both by one statement: pages with the list ask for them, and most users have neither."""
    with connection.cursor() as cursor:
        return RetentionNotices(*cursor.execute(NOTICES, {"user": user.pk}).fetchone())


def list_deleted_soon(user: User, *, limit: int | None = None) -> list[Conversation]:
    """Return the conversations of which the user has been told that they are deleted soon, the next one first."""
    return list(deleted_soon_of(user.pk).order_by("retention_ends_at")[:limit])


def deleted_soon_of(owner_id: int) -> QuerySet[Conversation]:
    """Return those of which *owner_id* has been told."""
    return Conversation.objects.filter(UNDER_RETENTION, owner_id=owner_id, retention_ends_at__isnull=False)
