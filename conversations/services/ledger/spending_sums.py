"""SQL of the running sums: which of them amounts belong to, and which part of the site's sums a statement changes."""

from __future__ import annotations

PARTS = 16
# Any will do: by chance, so that requests at the same moment seldom wait for each other.
ANY_PART = f"floor(random() * {PARTS})::smallint"

# Up to four sums for each `amount`, the busiest last: they are locked for the shortest time.
SUMS = """
CROSS JOIN LATERAL (SELECT (amount.at AT TIME ZONE 'UTC')::date AS today) AS clock
CROSS JOIN LATERAL (
  VALUES (1, amount.user_id, 'day', today), (2, amount.user_id, 'month', date_trunc('month', today)::date),
         (3, NULL, 'day', today), (4, NULL, 'month', date_trunc('month', today)::date)
) AS sum (place, user_id, period, begins_on)
"""
# A user who was deleted meanwhile has no sums any more; the site has.
HAS_SUM = "(sum.user_id IS NOT NULL OR sum.place > 2)"

# One row for each sum that the amounts change, with its limit, or NULL, and the same part of all that are the site's.
CHANGE = f"""
chance AS MATERIALIZED (SELECT {ANY_PART} AS part),
change AS MATERIALIZED (
  SELECT sum.place, sum.user_id, sum.period, sum.begins_on, sum(amount.usd) AS usd,
         (%(limits)s::numeric[])[sum.place] AS limit_usd,
         CASE WHEN sum.place > 2 THEN (SELECT part FROM chance) ELSE 0 END AS part
  FROM unnest(%(users)s::bigint[], %(times)s::timestamptz[], %(usd)s::numeric[]) AS amount (user_id, at, usd) {SUMS}
  WHERE {HAS_SUM}
  GROUP BY sum.place, sum.user_id, sum.period, sum.begins_on
)
"""  # noqa: S608  # constants of this file
