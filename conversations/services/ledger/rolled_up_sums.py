"""The sums of closed days, as they are made of the sums over quarters of an hour: the one place that says it, in SQL.

Every statement is for the days within `bounds`, a table of one row with `begin` and `end`, both at midnight, UTC.
"""

from __future__ import annotations

from conversations.models.rolled_up_sum import KEY_IDS, KEY_NAMES, SPANS
from conversations.selectors.figures.totals import SUMS

from .ledger_sums import ADDED_TO_STORED, SUM_COLUMNS, SUMS_ADDED_UP

ROLLED_UP_KEY = "dimension, span, begins_at, key_id, key_name"
BEGIN = "(SELECT begin FROM bounds)"
END = '(SELECT "end" FROM bounds)'
DAY = "INTERVAL '24 hours'"
IN_BOUNDS = f"quarter >= {BEGIN} AND quarter < {END}"
A_DAY_BEFORE = f"quarter >= {BEGIN} - {DAY} AND quarter < {END} - {DAY}"


def _rolled_up(dimension: str, span: str) -> str:
    """Return the statement for the days, or for the months that end with one of them."""
    begins_at = f"date_trunc('{span}', quarter, 'UTC')"
    return f"""
    SELECT '{dimension}' AS dimension, '{span}' AS span, {begins_at} AS begins_at,
           {KEY_IDS.get(dimension, "0")} AS key_id, {KEY_NAMES.get(dimension, "''")} AS key_name, {SUMS_ADDED_UP}
    FROM conversations_ledgersum
    WHERE quarter >= date_trunc('{span}', {BEGIN}, 'UTC') AND quarter < date_trunc('{span}', {END}, 'UTC')
    GROUP BY 1, 2, 3, 4, 5
    """  # noqa: S608  # constants


ROLLED_UP = " UNION ALL ".join(_rolled_up(dimension, span) for dimension, spans in SPANS.items() for span in spans)

# Somebody comes into the 24 hours up to a quarter with what they do in it, unless they are in already, and goes out of
# them a day after what they did last. Quarters in which somebody could go out have a row, whoever has been deleted.
RUNNING = f"""
WITH active AS (
  SELECT DISTINCT user_id, quarter FROM conversations_ledgersum
  WHERE user_id IS NOT NULL AND quarter >= {BEGIN} - {DAY} AND quarter < {END}
), neighbours AS (
  SELECT quarter, lag(quarter) OVER persons AS before, lead(quarter) OVER persons AS after
  FROM active WINDOW persons AS (PARTITION BY user_id ORDER BY quarter)
), moments AS (
  SELECT quarter, 1 AS users FROM neighbours WHERE (before >= quarter - {DAY}) IS NOT TRUE
  UNION ALL SELECT quarter + {DAY}, -1 FROM neighbours WHERE (after <= quarter + {DAY}) IS NOT TRUE
  UNION ALL SELECT DISTINCT quarter + {DAY}, 0 FROM conversations_ledgersum WHERE {A_DAY_BEFORE}
  UNION ALL SELECT generate_series({BEGIN} + INTERVAL '23 hours 45 minutes', {END}, {DAY}), 0
), changes AS (
  SELECT quarter, users, {", ".join(f"0 AS {name}" for name in SUMS)} FROM moments WHERE {IN_BOUNDS}
  UNION ALL SELECT quarter, 0, {SUM_COLUMNS} FROM conversations_ledgersum WHERE {IN_BOUNDS}
  UNION ALL (
    SELECT quarter, users, {SUM_COLUMNS} FROM conversations_runningsum
    WHERE quarter < {BEGIN} ORDER BY quarter DESC LIMIT 1
  )
), running AS (
  SELECT quarter, {", ".join(f"sum(sum({name})) OVER up_to_here AS {name}" for name in ("users", *SUMS))}
  FROM changes GROUP BY quarter WINDOW up_to_here AS (ORDER BY quarter)
)
SELECT quarter, users, {SUM_COLUMNS} FROM running WHERE {IN_BOUNDS}
"""  # noqa: S608  # constants

# To be added to what there is of the days before.
OF_CONVERSATIONS = f"""
SELECT {KEY_IDS["conversation"]} AS key_id, min(quarter) AS first_quarter, max(quarter) AS last_quarter, {SUMS_ADDED_UP}
FROM conversations_ledgersum WHERE {IN_BOUNDS} GROUP BY 1
"""  # noqa: S608  # constants

CONVERSATION_COLUMNS = f"key_id, first_quarter, last_quarter, {SUM_COLUMNS}"
ADD_TO_CONVERSATION_SUMS = f"INSERT INTO conversations_conversationsum AS stored ({CONVERSATION_COLUMNS})"
ON_CONFLICT_ADD_TO_CONVERSATION = f"""
ON CONFLICT (key_id) DO UPDATE SET {ADDED_TO_STORED},
  first_quarter = least(stored.first_quarter, EXCLUDED.first_quarter),
  last_quarter = greatest(stored.last_quarter, EXCLUDED.last_quarter)
"""
ADD_TO_ROLLED_UP_SUMS = f"INSERT INTO conversations_rolledupsum AS stored ({ROLLED_UP_KEY}, {SUM_COLUMNS})"

BOUNDS = 'WITH bounds (begin, "end") AS (VALUES (%(begin)s::timestamptz, %(end)s::timestamptz))'
FILL = (
    f"{BOUNDS} {ADD_TO_ROLLED_UP_SUMS} {ROLLED_UP}",
    f"{BOUNDS} INSERT INTO conversations_runningsum (quarter, users, {SUM_COLUMNS}) {RUNNING}",
    f"{BOUNDS} {ADD_TO_CONVERSATION_SUMS} {OF_CONVERSATIONS} {ON_CONFLICT_ADD_TO_CONVERSATION}",
)
