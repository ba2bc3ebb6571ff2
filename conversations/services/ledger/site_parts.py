"""The site's sums in parts: requests at the same moment change different rows, and together pass no limit.

A sum of the site, of one day or month, is the sum of its parts. For a limit each part has been dealt what it may
reserve without a look at the others, `free_usd`:

    free of all parts + spent of all + reserved by all ≤ limit                                       (1)

A request that may cost no more than is free in a part takes it from there, and locks that part alone:

    reserve   reserved += worst case                      free −= worst case
    release   reserved −= worst case, spent += cost       free += worst case − cost     in any part

Both leave the left side of (1) as it is. As no part's `free_usd` is below 0, spent + reserved ≤ limit, whatever
requests do at the same moment in other parts. A request for which its part has not enough looks at all of them:

    it locks all parts, adds them up, and is refused only if spent + reserved + worst case > limit.  (2)
    If it is not, it is reserved, and what is left is dealt in equal shares: (1) holds again.
    Shares that are smaller than what was asked for would not save the next one a look: then nothing is dealt.

So refusals are exact, too. `free_usd` NULL is nothing dealt, and then every request does (2). It is that also

- where the sum is above its limit, because that was lowered: what is released then must not be reserved again;
- after a request that cost more than it had reserved: it takes the excess from all, and the statement that settles it
  sets all parts to NULL, because their shares were dealt from money that is spent now;
- after sums were mended.

`limit_usd` says from which limit was dealt; NULL is none. Who knows another limit, or of none where there is one, does
(2) by the one they know. Without a limit nothing is dealt, and parts are changed without a question.

No two wait for each other in a circle: rows are locked in the order of place, day and part, by all. So a request that
found its part changed between its look and its lock, and holds it now, begins its transaction again before it does (2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.backends.utils import CursorWrapper

from .spending_sums import CHANGE, PARTS

# For the columns of `change`: whether its part, as it is seen without a lock, has what the request asks for.
FITS = """
(change.usd <= 0 OR CASE WHEN change.limit_usd IS NULL THEN NOT EXISTS (
  SELECT FROM conversations_spending AS seen WHERE seen.user_id IS NULL AND seen.period = change.period
  AND seen.begins_on = change.begins_on AND seen.part = change.part AND seen.limit_usd IS NOT NULL
) ELSE EXISTS (
  SELECT FROM conversations_spending AS seen WHERE seen.user_id IS NULL AND seen.period = change.period
  AND seen.begins_on = change.begins_on AND seen.part = change.part
  AND seen.limit_usd = change.limit_usd AND seen.free_usd >= change.usd
) END)
"""

# Rows that are there already are locked, not changed.
LOCK = f"""
WITH {CHANGE}
INSERT INTO conversations_spending (user_id, period, begins_on, part, spent_usd, reserved_usd)
SELECT NULL::bigint, period, begins_on, each, 0, 0 FROM change, generate_series(0, {PARTS} - 1) AS each WHERE place > 2
ORDER BY place, begins_on, each
ON CONFLICT (user_id, period, begins_on, part) DO UPDATE SET part = EXCLUDED.part WHERE FALSE
"""  # noqa: S608  # constants
DEAL = f"""
WITH {CHANGE}, total AS (
  SELECT change.place, change.period, change.begins_on, change.part, change.usd, change.limit_usd, used.usd AS used_usd,
         trunc((change.limit_usd - used.usd) / used.parts, 10) AS share_usd
  FROM change CROSS JOIN LATERAL (
    SELECT change.usd + sum(spent_usd + reserved_usd) AS usd, count(*) AS parts FROM conversations_spending AS stored
    WHERE stored.user_id IS NULL AND stored.period = change.period AND stored.begins_on = change.begins_on
  ) AS used
  WHERE change.place > 2
), verdict AS MATERIALIZED (
  SELECT bool_and(usd <= 0 OR limit_usd IS NULL OR used_usd <= limit_usd) AS covered FROM total
), dealt AS (
  UPDATE conversations_spending AS stored
  SET reserved_usd = stored.reserved_usd + CASE WHEN stored.part = total.part THEN total.usd ELSE 0 END,
      free_usd = CASE WHEN total.share_usd >= greatest(total.usd, 0) THEN total.share_usd END,
      limit_usd = total.limit_usd
  FROM total
  WHERE stored.user_id IS NULL AND stored.period = total.period AND stored.begins_on = total.begins_on
    AND (SELECT covered FROM verdict)
    AND (stored.part = total.part OR stored.free_usd IS NOT NULL OR total.share_usd >= greatest(total.usd, 0)
         OR stored.limit_usd IS DISTINCT FROM total.limit_usd)
)
SELECT covered FROM verdict
"""  # noqa: S608  # constants


def reserve_in_all_parts(cursor: CursorWrapper, values: Mapping[str, Any]) -> bool:
    """Add the amounts to the site's sums if all of each is covered, and return whether it is; no part may be locked."""
    cursor.execute(LOCK, values)
    cursor.execute(DEAL, values)  # a statement of its own, so that it sees what those that it waited for have stored
    [covered] = cursor.fetchone()
    return bool(covered)
