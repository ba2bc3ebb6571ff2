"""Compute the running sums of the ledger again, and mend those that are not what the ledger and the runs say."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from django.db import connection, transaction

from .spending_sums import HAS_SUM, SUMS

# Opening or settling a request, or ending a run, waits for this lock, and then adds to sums that are right.
LOCK = "LOCK TABLE conversations_spending IN SHARE ROW EXCLUSIVE MODE"

DIFFERENCES = f"""
WITH right_sums AS (
  SELECT sum.user_id, sum.period, sum.begins_on,
         coalesce(sum(amount.spent_usd), 0) AS spent_usd, coalesce(sum(amount.reserved_usd), 0) AS reserved_usd
  FROM (
    SELECT user_id, created_at AS at, cost_usd AS spent_usd,
           CASE WHEN ended_at IS NULL THEN reserved_usd END AS reserved_usd
    FROM conversations_completion
    UNION ALL
    SELECT payer_id, reserved_at, NULL, reserved_usd FROM conversations_run WHERE state <> 'ended' AND reserved_usd > 0
  ) AS amount {SUMS}
  WHERE {HAS_SUM}
  GROUP BY sum.user_id, sum.period, sum.begins_on
), stored AS (
  SELECT user_id, period, begins_on, sum(spent_usd) AS spent_usd, sum(reserved_usd) AS reserved_usd
  FROM conversations_spending GROUP BY user_id, period, begins_on
)
SELECT coalesce(right_sums.user_id, stored.user_id), coalesce(right_sums.period, stored.period),
       coalesce(right_sums.begins_on, stored.begins_on),
       coalesce(stored.spent_usd, 0), coalesce(stored.reserved_usd, 0),
       coalesce(right_sums.spent_usd, 0), coalesce(right_sums.reserved_usd, 0)
FROM right_sums FULL JOIN stored
  ON coalesce(stored.user_id, 0) = coalesce(right_sums.user_id, 0)
     AND stored.period = right_sums.period AND stored.begins_on = right_sums.begins_on
WHERE (coalesce(stored.spent_usd, 0), coalesce(stored.reserved_usd, 0))
   <> (coalesce(right_sums.spent_usd, 0), coalesce(right_sums.reserved_usd, 0))
ORDER BY 3, 2, 1 NULLS LAST
"""  # noqa: S608  # constants

# What is free in a part of the site's sums was dealt from sums that may have been wrong.
FORGET_WHAT_IS_FREE = "UPDATE conversations_spending SET free_usd = NULL WHERE free_usd IS NOT NULL"
# All of a sum of the site goes into one of its parts.
EMPTY_OTHER_PARTS = """
UPDATE conversations_spending SET spent_usd = 0, reserved_usd = 0
WHERE user_id IS NULL AND %s::bigint IS NULL AND period = %s AND begins_on = %s AND part <> 0
"""
MEND = """
INSERT INTO conversations_spending (user_id, period, begins_on, part, spent_usd, reserved_usd)
VALUES (%s, %s, %s, 0, %s, %s)
ON CONFLICT (user_id, period, begins_on, part) DO UPDATE
SET spent_usd = EXCLUDED.spent_usd, reserved_usd = EXCLUDED.reserved_usd
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """A sum that was not what the ledger says; *user_id* is None for the site."""

    user_id: int | None
    period: str
    begins_on: dt.date
    stored_spent_usd: Decimal
    stored_reserved_usd: Decimal
    spent_usd: Decimal
    reserved_usd: Decimal


def recompute_spending(*, mend: bool = True) -> list[Difference]:
    """Return what differed; nothing does unless rows were changed by hand. Sums are mended at once."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(LOCK)
        cursor.execute(DIFFERENCES)
        found = [Difference(*row) for row in cursor.fetchall()]
        if mend:
            cursor.execute(FORGET_WHAT_IS_FREE)
            for each in found:
                key = [each.user_id, each.period, each.begins_on]
                cursor.execute(EMPTY_OTHER_PARTS, key)
                cursor.execute(MEND, [*key, each.spent_usd, each.reserved_usd])
    return found
