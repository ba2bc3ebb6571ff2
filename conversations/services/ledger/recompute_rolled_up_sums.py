"""Roll the sums of closed days up again, and mend them if they are not what the sums over quarters of an hour say."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from django.db import connection, transaction

from conversations.selectors.figures.totals import SUMS

from .activity_sums import (
    ANONYMOUS_IN_SPAN,
    CONVERSATIONS_OF_DAYS,
    EMPTY_ACTIVITY,
    FILLED,
    IN_NO_CONVERSATION,
    IS_UP_TO_DATE,
    LAST_CLOSED_DAY,
    active_users,
)
from .anonymize_ledger import wait_for_other_deletions
from .close_days import roll_up_days
from .ledger_sums import OF_CONVERSATIONS, ROLLED_UP, ROLLED_UP_KEY, RUNNING, WEEKS_FROM_QUARTERS

ALL_DAYS = 1_000_000
# From the first quarter of all up to where days are closed.
BOUNDS = """
bounds AS MATERIALIZED (
  SELECT date_trunc('day', least(
    (SELECT min(quarter) FROM conversations_ledgersum), (SELECT min(quarter) FROM conversations_runningsum)
  ), 'UTC') AS begin, (SELECT max(quarter) + INTERVAL '15 minutes' FROM conversations_runningsum) AS "end"
)
"""
TIMES = ("first_quarter", "last_quarter")
FOUND = """
coalesce(stored.completions, 0), coalesce(stored.cost_usd, 0),
coalesce(right_sums.completions, 0), coalesce(right_sums.cost_usd, 0)
"""


def _columns(table: str, *names: str) -> str:
    return ", ".join(f"{table}.{name}" for name in names)


# A sum that is not there is different from all.
ROLLED_UP_DIFFERENCES = f"""
WITH {BOUNDS}, right_sums AS ({ROLLED_UP} UNION ALL {WEEKS_FROM_QUARTERS})
SELECT dimension || ' by the ' || span, begins_at, coalesce(nullif(key_name, ''), key_id::text), {FOUND}
FROM right_sums FULL JOIN conversations_rolledupsum AS stored USING ({ROLLED_UP_KEY})
WHERE ({_columns("stored", *SUMS)}) IS DISTINCT FROM ({_columns("right_sums", *SUMS)})
ORDER BY 1, 2, 3
"""  # noqa: S608  # constants
RUNNING_DIFFERENCES = f"""
WITH {BOUNDS}, right_sums AS ({RUNNING})
SELECT 'all', quarter, '', {FOUND}
FROM right_sums FULL JOIN conversations_runningsum AS stored USING (quarter)
WHERE ({_columns("stored", "users", *SUMS)}) IS DISTINCT FROM ({_columns("right_sums", "users", *SUMS)})
ORDER BY 2
"""  # noqa: S608  # constants
CONVERSATION_DIFFERENCES = f"""
WITH {BOUNDS}, right_sums AS ({OF_CONVERSATIONS})
SELECT 'all of a conversation', coalesce(stored.first_quarter, right_sums.first_quarter), key_id::text, {FOUND}
FROM right_sums FULL JOIN conversations_conversationsum AS stored USING (key_id)
WHERE ({_columns("stored", *TIMES, *SUMS)}) IS DISTINCT FROM ({_columns("right_sums", *TIMES, *SUMS)})
ORDER BY key_id
"""  # noqa: S608  # constants
# Who is named there may have been deleted since, and the next have become others: no one else may have cost more.
ACTIVE_USERS_DIFFERENCES = f"""
WITH right_users AS ({active_users(FILLED)})
SELECT 'active users by the ' || active.span, active.begins_at, '',
       active.anonymous_completions, 0, right_users.anonymous_completions, 0
FROM conversations_activeusers AS active {ANONYMOUS_IN_SPAN}
LEFT JOIN right_users ON right_users.span = active.span AND right_users.begins_at = active.begins_at
WHERE {IS_UP_TO_DATE} AND (
  rtrim(active.users::text, '0') IS DISTINCT FROM rtrim(right_users.users::text, '0')
  OR EXISTS (
    SELECT FROM conversations_rolledupsum AS own
    WHERE dimension = 'user' AND own.span = active.span AND own.begins_at = active.begins_at
      AND own.key_id <> ALL (active.most_expensive || 0::bigint) AND (own.cost_usd, own.input_tokens, own.completions)
        > (active.next_cost_usd, active.next_input_tokens, active.next_completions)
  )
)
ORDER BY 1, 2
"""  # noqa: S608  # constants
CONVERSATIONS_OF_DAY_DIFFERENCES = f"""
WITH last AS (
  SELECT count(*) > 0 AS is_up_to_date FROM conversations_conversationsofday
  WHERE begins_at = {LAST_CLOSED_DAY} AND anonymous_completions = {IN_NO_CONVERSATION}
), stored AS (SELECT * FROM conversations_conversationsofday)
SELECT 'conversations of the day', begins_at, '', coalesce(stored.began, 0), coalesce(stored.ended, 0),
       coalesce(counted.began, 0), coalesce(counted.ended, 0)
FROM ({CONVERSATIONS_OF_DAYS}) AS counted FULL JOIN stored USING (begins_at)
WHERE (SELECT is_up_to_date FROM last)
  AND (coalesce(stored.began, 0), coalesce(stored.ended, 0)) <> (coalesce(counted.began, 0), coalesce(counted.ended, 0))
ORDER BY 2
"""  # noqa: S608  # constants
DIFFERENCES = (
    ROLLED_UP_DIFFERENCES,
    RUNNING_DIFFERENCES,
    CONVERSATION_DIFFERENCES,
    ACTIVE_USERS_DIFFERENCES,
    CONVERSATIONS_OF_DAY_DIFFERENCES,
)
EMPTY = (
    "DELETE FROM conversations_rolledupsum",
    "DELETE FROM conversations_runningsum",
    "DELETE FROM conversations_conversationsum",
    *EMPTY_ACTIVITY,
)


@dataclass(frozen=True, slots=True)
class RolledUpDifference:
    """A sum that was not what it should be: of the *key* of a dimension, or up to a moment of all.

    Of the conversations of a day the numbers are how many began, and how many ended.
    """

    dimension: str
    at: dt.datetime
    key: str
    stored_completions: int
    stored_cost_usd: Decimal
    completions: int
    cost_usd: Decimal


def recompute_rolled_up_sums(*, mend: bool = True) -> list[RolledUpDifference]:
    """Return what differed. All of it is rewritten then, also a day or month that was closed before it was over."""
    found: list[RolledUpDifference] = []
    with transaction.atomic(), connection.cursor() as cursor:
        wait_for_other_deletions()
        for statement in DIFFERENCES:
            cursor.execute(statement)
            found += [RolledUpDifference(*row) for row in cursor.fetchall()]
        if found and mend:
            for statement in EMPTY:
                cursor.execute(statement)
            roll_up_days(cursor, at_most=ALL_DAYS)
    return found
