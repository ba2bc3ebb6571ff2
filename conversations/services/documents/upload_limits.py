"""Upload limits: how large a file may be, and how many a user may send in a day (UTC)."""

from __future__ import annotations

import datetime as dt

from django.db import connection
from django.utils import timezone

from chatsite.accounts.limits import effective_limits
from chatsite.accounts.models import User
from conversations.core.errors import UploadsForbidden, UploadsUsedUp, UploadTooLarge
from conversations.models import UploadCount

BYTES_PER_KILOBYTE = 1_000

# One statement, so that of many files sent at once none slips through; no row comes back for one too many.
COUNT = """
INSERT INTO conversations_uploadcount AS stored (user_id, day, uploads) VALUES (%(user)s, %(day)s, 1)
ON CONFLICT (user_id, day) DO UPDATE SET uploads = stored.uploads + 1
WHERE %(limit)s::bigint IS NULL OR stored.uploads < %(limit)s
"""


def count_upload(user: User, *, size_bytes: int) -> None:
    """Count a file that *user* sends, before its content is looked at: what is too large or nonsense was sent too.

    Raises `UploadsForbidden` or `UploadsUsedUp`, which leave the count as it is, or `UploadTooLarge`.
    """
    limits = effective_limits(user)
    if 0 in (limits.uploads_per_day, limits.upload_kilobytes):
        raise UploadsForbidden
    day = timezone.now().astimezone(dt.UTC).date()
    is_counted = _count(user, day, limit=limits.uploads_per_day)
    if limits.upload_kilobytes is not None and size_bytes > limits.upload_kilobytes * BYTES_PER_KILOBYTE:
        raise UploadTooLarge(kilobytes=limits.upload_kilobytes)
    if not is_counted:
        raise UploadsUsedUp(opens_at=dt.datetime.combine(day + dt.timedelta(days=1), dt.time(), dt.UTC))


def _count(user: User, day: dt.date, *, limit: int | None) -> bool:
    """Return whether there was room for one more."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, {"user": user.pk, "day": day, "limit": limit})
        return bool(cursor.rowcount)


def sweep_upload_counts() -> None:
    """Delete the counts of days that are over."""
    UploadCount.objects.filter(day__lt=timezone.now().astimezone(dt.UTC).date()).delete()
