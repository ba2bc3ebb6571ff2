"""Close the days to which nothing can be added any more, and roll their sums up.

A day (UTC) is closed when it ended more than an hour ago, no completion that began before its end is still open, and
the day before is closed. What runs is added to its sum when it is settled, by the quarter in which it began, and what
begins now belongs to now. Only deletions change sums of closed days (`anonymize_ledger`), and they wait for each other
and for this.
"""

from __future__ import annotations

import datetime as dt

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from .anonymize_ledger import LOCK
from .ledger_sums import FILL

DAYS_AT_ONCE = 31
IS_LOCKED = f"SELECT pg_try_advisory_xact_lock({LOCK})"
NEXT = """
SELECT begin, least(
  begin + %(days)s * INTERVAL '24 hours',
  date_trunc('day', coalesce(%(now)s, statement_timestamp()) - INTERVAL '1 hour', 'UTC'),
  (SELECT date_trunc('day', min(created_at), 'UTC') FROM conversations_completion WHERE ended_at IS NULL)
)
FROM (
  SELECT coalesce(
    (SELECT max(quarter) + INTERVAL '15 minutes' FROM conversations_runningsum),
    (SELECT date_trunc('day', min(quarter), 'UTC') FROM conversations_ledgersum)
  ) AS begin
) AS first
"""


def close_days(*, at_most: int = DAYS_AT_ONCE, now: dt.datetime | None = None) -> int:
    """Close the next days, in their order, and return how many; none while something is being deleted."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(IS_LOCKED)
        return roll_up_days(cursor, at_most=at_most, now=now) if cursor.fetchone()[0] else 0


def roll_up_days(cursor: CursorWrapper, *, at_most: int, now: dt.datetime | None = None) -> int:
    """Do it, for callers that keep deletions out."""
    cursor.execute(NEXT, {"days": at_most, "now": now})
    begin, end = cursor.fetchone()
    if begin is None or begin >= end:
        return 0
    for statement in FILL:
        cursor.execute(statement, {"begin": begin, "end": end})
    return int((end - begin).days)
