"""What owners are told of retention: which of their conversations are deleted soon, and whether any is held."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Count, Exists, IntegerField, QuerySet, Subquery
from django.db.models.functions import Coalesce

from chatsite.accounts.models import User
from conversations.models import Conversation

from .deadlines import UNDER_RETENTION
from .holds import holds_about


class RetentionNotices(NamedTuple):
    """*deleted_soon* counts conversations; *has_holds* says whether the user, or a conversation of theirs, is held."""

    deleted_soon: int
    has_holds: bool


def retention_notices(user: User) -> RetentionNotices:
    """Return both by one statement: pages with the list ask for them, and most users have neither."""
    counted = _deleted_soon(user).order_by().values("owner").annotate(count=Count("pk")).values("count")
    deleted_soon = Coalesce(Subquery(counted, output_field=IntegerField()), 0)
    found = User.objects.filter(pk=user.pk).values_list(deleted_soon, Exists(holds_about(user))).first()
    return RetentionNotices(*(found or (0, False)))


def list_deleted_soon(user: User, *, limit: int | None = None) -> list[Conversation]:
    """Return the conversations of which the user has been told that they are deleted soon, the next one first."""
    return list(_deleted_soon(user).order_by("retention_ends_at")[:limit])


def _deleted_soon(user: User) -> QuerySet[Conversation]:
    return Conversation.objects.filter(UNDER_RETENTION, owner_id=user.pk, retention_ends_at__isnull=False)
