"""The statements of `figures` over all completions, whose closed days are rolled up.

Days and the total are differences of running sums, and of what is not closed yet the sums over quarters of an hour.
Language models, scenarios and purposes are added up from the period's parts (`parts_sql`). People are ranked by three
sums, and only those that are shown are added up altogether. Conversations are too many for that
(`dearest_conversations_sql`).
"""

from __future__ import annotations

from .dearest_conversations_sql import DEAREST_CONVERSATIONS, RANKS, RANKS_ADDED_UP
from .figures_sql import ADDED_UP, DAY, DEAREST_FIRST, GROUPINGS, NAMED, only
from .parts_sql import parts_of_all, parts_of_keys
from .totals import SUMS

NUMBERS = {name: number for number, name in GROUPINGS.items()}
ALL_SUMS = ", ".join(SUMS)

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


PEOPLE = f"""
people AS MATERIALIZED (
  SELECT key_id, {RANKS_ADDED_UP} FROM ({parts_of_all(["user"], RANKS)}) AS parts GROUP BY key_id
), people_places AS MATERIALIZED (
  SELECT key_id, row_number() OVER (ORDER BY {DEAREST_FIRST}, nullif(key_id, 0)) AS place
  FROM people ORDER BY place LIMIT %(rows)s
), people_rows AS (
  SELECT {NUMBERS["user"]} AS grouping, NULL::integer AS day, {only("user_id")}, {ALL_SUMS},
         (SELECT count(*) FROM people) AS row_count, place, 0 AS users
  FROM (
    SELECT key_id, nullif(key_id, 0) AS user_id, {ADDED_UP}
    FROM ({parts_of_keys("user", "SELECT key_id FROM people_places", ALL_SUMS)}) AS parts GROUP BY key_id
  ) AS summed JOIN people_places USING (key_id)
)
"""  # noqa: S608  # constants
FEW = f"""
few AS (
  SELECT CASE dimension WHEN 'language_model' THEN {NUMBERS["language_model"]}
                        WHEN 'purpose' THEN {NUMBERS["purpose"]} ELSE {NUMBERS["scenario"]} END AS grouping,
         CASE WHEN dimension = 'language_model' THEN key_name END AS language_model,
         CASE WHEN dimension = 'purpose' THEN key_name END AS purpose, nullif(key_id, 0) AS scenario_id, {ADDED_UP}
  FROM ({parts_of_all(["language_model", "purpose", "scenario"], ALL_SUMS)}) AS parts
  GROUP BY dimension, key_id, key_name
), few_rows AS (
  SELECT grouping, NULL::integer AS day, NULL::bigint AS user_id, language_model, scenario_id, purpose,
         NULL::bigint AS conversation_id, {ALL_SUMS}, count(*) OVER (PARTITION BY grouping) AS row_count,
         row_number() OVER (
           PARTITION BY grouping ORDER BY {DEAREST_FIRST}, language_model, scenario_id, purpose
         ) AS place, 0 AS users
  FROM few
)
"""  # noqa: S608  # constants

ROLLED_UP_FIGURES = f"""
WITH {MARKS}, {DAYS}, {PEOPLE}, {FEW}, {DEAREST_CONVERSATIONS},
shown AS (
  SELECT {NUMBERS["total"]} AS grouping, NULL::integer AS day, {only("")}, {ADDED_UP}, 1 AS row_count, 1 AS place,
         (SELECT count(*) FROM people WHERE key_id > 0) AS users
  FROM days
  UNION ALL SELECT {NUMBERS["day"]}, day, {only("")}, {ALL_SUMS}, 1, 1, users FROM days
  UNION ALL SELECT * FROM few_rows WHERE place <= %(rows)s
  UNION ALL SELECT * FROM people_rows
  UNION ALL SELECT * FROM conversation_rows
)
{NAMED} ORDER BY grouping, place
"""  # noqa: S608  # constants

ROLLED_UP_TOTAL = f"""
WITH {MARKS}, {DAYS}
SELECT {ADDED_UP}, (
  SELECT count(DISTINCT nullif(key_id, 0)) FROM ({parts_of_all(["user"], "completions")}) AS parts
) AS users
FROM days
"""  # noqa: S608  # constants
