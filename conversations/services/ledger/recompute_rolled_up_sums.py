"""Roll the sums of closed days up again, and mend them if they are not what the sums over quarters of an hour say."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from django.db import connection, transaction

from conversations.selectors.figures.totals import SUMS

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
DIFFERENCES = (ROLLED_UP_DIFFERENCES, RUNNING_DIFFERENCES, CONVERSATION_DIFFERENCES)
EMPTY = (
    "DELETE FROM conversations_rolledupsum",
    "DELETE FROM conversations_runningsum",
    "DELETE FROM conversations_conversationsum",
)


@dataclass(frozen=True, slots=True)
class RolledUpDifference:
    """A sum that was not what it should be: of the *key* of a dimension, or up to a moment of all."""

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
