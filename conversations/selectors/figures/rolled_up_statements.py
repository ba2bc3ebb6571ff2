"""SQL of the figures over all completions, from the rolled-up sums of closed days: the same columns as in `statements`.

Days and the total are differences of running sums, and of what is not closed yet the sums over quarters of an hour.
Language models, scenarios and purposes are added up from the period's parts. Users and conversations are too many for
that (`active_users`, `most_expensive_conversations`): only those that are shown have all of their sums added up.
"""

from __future__ import annotations

from psycopg.sql import SQL, Composed, Identifier

from .active_users import BY_USER, steps_before_by_user, steps_before_user_counts
from .most_expensive_conversations import BY_CONVERSATION, steps_before_by_conversation
from .period_parts import PARTS_OF_FEW, QUARTERS_OF_FEW
from .statements import ADDED_UP, DAY, MOST_EXPENSIVE_SUMS_FIRST, NAMED, SUM_COLUMNS, all_tables
from .totals import SUMS

# To be asked first, in the same transaction: up to when days are closed, and weeks added up. Other transactions go on
# as they were told to. *plan_cache_mode* is that of the statement which follows.
CLOSED_UNTIL = """
SELECT max(quarter) + INTERVAL '15 minutes' AS closed_until,
       (SELECT max(begins_at) + INTERVAL '168 hours' FROM conversations_rolledupsum
        WHERE dimension = 'user' AND span = 'week') AS weeks_until,
       set_config('work_mem', '32MB', TRUE), set_config('jit', 'off', TRUE),
       set_config('plan_cache_mode', %(plan_cache_mode)s, TRUE)
FROM conversations_runningsum
"""

# Up to each midnight the running sums of all that came before it; *users* are those of the 24 hours before.
MARKS = SQL("""
SELECT mark.moment, mark.number, running.*
FROM unnest(%(midnights)s::timestamptz[] || %(end)s::timestamptz) WITH ORDINALITY AS mark (moment, number)
LEFT JOIN LATERAL (
  SELECT * FROM conversations_runningsum WHERE quarter < least(mark.moment, %(until)s) ORDER BY quarter DESC LIMIT 1
) AS running ON TRUE
""")
NOT_CLOSED = SQL("""
SELECT {day} AS day, {added_up} FROM conversations_ledgersum
WHERE quarter >= greatest(%(begin)s, %(until)s) AND quarter < %(end)s
GROUP BY day
""").format(day=DAY, added_up=ADDED_UP)
NOT_CLOSED_OF_FEW = SQL("SELECT day, {added_up} FROM quarters_of_few WHERE is_open GROUP BY day").format(
    added_up=ADDED_UP
)


def _since_midnight(name: str) -> Composed:
    difference = SQL("coalesce(ends.{name}, 0) - coalesce(begins.{name}, 0) + coalesce(not_closed.{name}, 0) AS {name}")
    return difference.format(name=Identifier(name))


DAYS = SQL("""
SELECT begins.number - 1 AS day, {since_midnight},
       CASE WHEN ends.moment - begins.moment = INTERVAL '24 hours' AND ends.moment <= %(until)s
            THEN coalesce(ends.users, 0)
            ELSE (SELECT count(DISTINCT user_id) FROM conversations_ledgersum
                  WHERE quarter >= begins.moment AND quarter < ends.moment) END AS users
FROM marks AS begins JOIN marks AS ends ON ends.number = begins.number + 1
LEFT JOIN not_closed ON not_closed.day = begins.number - 1
""").format(since_midnight=SQL(", ").join(map(_since_midnight, SUMS)))
TOTAL = SQL("""
SELECT 'total' AS grouping, 0 AS key_id, '' AS key_name, {added_up},
       (SELECT users FROM user_counts) AS users, 1 AS row_count, 1 AS place
FROM days
""").format(added_up=ADDED_UP)
BY_DAY = SQL("""
SELECT 'day' AS grouping, day AS key_id, '' AS key_name, {sums}, users, 1 AS row_count, 1 AS place FROM days
""").format(sums=SUM_COLUMNS)
BY_LANGUAGE_MODEL_PURPOSE_AND_SCENARIO = SQL("""
SELECT * FROM (
  SELECT dimension AS grouping, key_id, key_name, {added_up}, 0 AS users,
         count(*) OVER same_dimension AS row_count,
         row_number() OVER (same_dimension ORDER BY {most_expensive_first}, key_name, nullif(key_id, 0)) AS place
  FROM ({parts}) AS parts GROUP BY dimension, key_id, key_name
  WINDOW same_dimension AS (PARTITION BY dimension)
) AS ranked WHERE place <= %(rows)s
""").format(added_up=ADDED_UP, most_expensive_first=MOST_EXPENSIVE_SUMS_FIRST, parts=PARTS_OF_FEW)

ROLLED_UP_FIGURES = (
    SQL("""
WITH marks AS MATERIALIZED ({marks}),
quarters_of_few AS MATERIALIZED ({quarters_of_few}),
not_closed AS ({not_closed}),
days AS ({days}),
{steps_before_user_counts},
{steps_before_by_user},
{steps_before_by_conversation},
shown AS ({tables})
{named}
""")
    .format(
        marks=MARKS,
        quarters_of_few=QUARTERS_OF_FEW,
        not_closed=NOT_CLOSED_OF_FEW,
        days=DAYS,
        steps_before_user_counts=steps_before_user_counts(),
        steps_before_by_user=steps_before_by_user(),
        steps_before_by_conversation=steps_before_by_conversation(),
        tables=all_tables(TOTAL, BY_DAY, BY_USER, BY_LANGUAGE_MODEL_PURPOSE_AND_SCENARIO, BY_CONVERSATION),
        named=NAMED,
    )
    .as_string()
)
ROLLED_UP_TOTAL = (
    SQL("""
WITH marks AS MATERIALIZED ({marks}), not_closed AS ({not_closed}), days AS ({days}), {steps_before_user_counts}
SELECT {added_up}, (SELECT users FROM user_counts) AS users FROM days
""")
    .format(
        marks=MARKS,
        not_closed=NOT_CLOSED,
        days=DAYS,
        added_up=ADDED_UP,
        steps_before_user_counts=steps_before_user_counts(),
    )
    .as_string()
)
