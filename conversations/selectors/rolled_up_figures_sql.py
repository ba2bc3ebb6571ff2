"""The statements of `figures` over all completions, whose closed days are rolled up.

Days and the total are differences of running sums, and of what is not closed yet the sums over quarters of an hour.
Each other grouping is ranked by three sums, and only what is shown is added up altogether: from the days or months that
lie within the period and are closed, and from the quarters of an hour before and after them.
"""

from __future__ import annotations

from conversations.models.rolled_up_sum import KEY_IDS, KEY_NAMES, SPANS

from .figures_sql import ADDED_UP, COLUMNS, DAY, DEAREST_FIRST, GROUPINGS, NAMED, only
from .totals import SUMS

RANKED_BY = ("cost_usd", "input_tokens", "completions")
NUMBERS = {name: number for number, name in GROUPINGS.items()}
KEYS = dict.fromkeys(KEY_IDS, "key_id") | dict.fromkeys(KEY_NAMES, "key_name")

# To be asked first, in the same transaction: up to when days are closed. Other transactions go on as they were told to.
CLOSED_UNTIL = """
SELECT max(quarter) + INTERVAL '15 minutes', set_config('work_mem', '32MB', TRUE), set_config('jit', 'off', TRUE)
FROM conversations_runningsum
"""

# Up to each midnight all that came before it; *users* are those of the 24 hours before.
MARKS = """
marks AS MATERIALIZED (
  SELECT mark.moment, mark.number, running.*
  FROM unnest(%(midnights)s::timestamptz[] || %(end)s::timestamptz) WITH ORDINALITY AS mark (moment, number)
  LEFT JOIN LATERAL (
    SELECT * FROM conversations_runningsum WHERE quarter < least(mark.moment, %(until)s) ORDER BY quarter DESC LIMIT 1
  ) AS running ON TRUE
)
"""
ACTIVE = """
CASE WHEN ends.moment - begins.moment = INTERVAL '24 hours' AND ends.moment <= %(until)s
     THEN coalesce(ends.users, 0)
     ELSE (SELECT count(DISTINCT user_id) FROM conversations_ledgersum
           WHERE quarter >= begins.moment AND quarter < ends.moment) END
"""
SINCE = ", ".join(
    f"coalesce(ends.{name}, 0) - coalesce(begins.{name}, 0) + coalesce(not_closed.{name}, 0) AS {name}" for name in SUMS
)
DAYS = f"""
not_closed AS (
  SELECT {DAY} AS day, {ADDED_UP} FROM conversations_ledgersum
  WHERE quarter >= greatest(%(begin)s, %(until)s) AND quarter < %(end)s
  GROUP BY day
), days AS (
  SELECT begins.number - 1 AS day, {ACTIVE} AS users, {SINCE}
  FROM marks AS begins JOIN marks AS ends ON ends.number = begins.number + 1
  LEFT JOIN not_closed ON not_closed.day = begins.number - 1
)
"""  # noqa: S608  # constants


def _sums_of(dimension: str, *names: str) -> str:
    """Return the rows that add up to the sums of each *key* of the dimension."""
    span, columns = SPANS[dimension], ", ".join(names)
    key = (KEY_IDS | KEY_NAMES)[dimension]
    return f"""
    SELECT {KEYS[dimension]} AS key, {columns} FROM conversations_rolledupsum
    WHERE dimension = '{dimension}' AND begins_at >= %({span}_begin)s AND begins_at < %({span}_end)s
    UNION ALL
    SELECT {key}, {columns} FROM conversations_ledgersum WHERE quarter >= %(begin)s AND quarter < %({span}_begin)s
    UNION ALL
    SELECT {key}, {columns} FROM conversations_ledgersum WHERE quarter >= %({span}_end)s AND quarter < %(end)s
    """  # noqa: S608  # constants


def _ranked(dimension: str) -> str:
    """Return as tables the dearest of the dimension with all their sums, and how many there are."""
    key = "nullif(key, 0)" if dimension in KEY_IDS else "key"
    return f"""
{dimension}_sums AS MATERIALIZED (
  SELECT key, {", ".join(f"sum({name}) AS {name}" for name in RANKED_BY)}
  FROM ({_sums_of(dimension, *RANKED_BY)}) AS parts GROUP BY key
), {dimension}_places AS MATERIALIZED (
  SELECT key, row_number() OVER (ORDER BY {DEAREST_FIRST}, {key}) AS place
  FROM (SELECT * FROM {dimension}_sums ORDER BY {DEAREST_FIRST}, {key} LIMIT %(rows)s) AS dearest
), {dimension}_rows AS (
  SELECT {NUMBERS[dimension]} AS grouping, NULL::integer AS day, {only(COLUMNS[dimension])}, {", ".join(SUMS)},
         (SELECT count(*) FROM {dimension}_sums) AS row_count, place, 0 AS users
  FROM (
    SELECT {key} AS {COLUMNS[dimension]}, key, {ADDED_UP} FROM ({_sums_of(dimension, *SUMS)}) AS parts
    WHERE key = ANY (ARRAY(SELECT key FROM {dimension}_places)) GROUP BY key
  ) AS summed JOIN {dimension}_places USING (key)
)
"""  # noqa: S608  # constants


DIMENSIONS = [name for name in COLUMNS if name in SPANS]
ROLLED_UP_FIGURES = f"""
WITH {MARKS}, {DAYS}, {", ".join(_ranked(name) for name in DIMENSIONS)},
shown AS (
  SELECT {NUMBERS["total"]} AS grouping, NULL::integer AS day, {only("")}, {ADDED_UP}, 1 AS row_count, 1 AS place,
         (SELECT count(nullif(key, 0)) FROM user_sums) AS users
  FROM days
  UNION ALL SELECT {NUMBERS["day"]}, day, {only("")}, {", ".join(SUMS)}, 1, 1, users FROM days
  {" ".join(f"UNION ALL SELECT * FROM {name}_rows" for name in DIMENSIONS)}
)
{NAMED} ORDER BY grouping, place
"""  # noqa: S608  # constants

ROLLED_UP_TOTAL = f"""
WITH {MARKS}, {DAYS}
SELECT {ADDED_UP}, (
  SELECT count(DISTINCT nullif(key, 0)) FROM ({_sums_of("user", "completions")}) AS parts
) AS users
FROM days
"""  # noqa: S608  # constants
