"""Add the ledger up again by quarters of an hour, and mend the sums that are not what the ledger says."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from django.db import connection, transaction

from conversations.selectors.figures.totals import SUMS

from .ledger_sums import ADD_TO_LEDGER_SUMS, AS_LEDGER_SUMS, KEY_COLUMNS, SUM_COLUMNS, SUMS_ADDED_UP

# Settling a request waits for this lock, and then adds to sums that are right.
LOCK = "LOCK TABLE conversations_ledgersum IN SHARE ROW EXCLUSIVE MODE"
RIGHT_SUMS = f"""
SELECT {KEY_COLUMNS}, {SUMS_ADDED_UP}
FROM ({AS_LEDGER_SUMS} FROM conversations_completion AS completion WHERE completion.ended_at IS NOT NULL) AS parts
GROUP BY {KEY_COLUMNS}
"""  # noqa: S608  # constants
NUMBERS = ("user_id", "conversation_id", "scenario_id")
SAME_KEY = " AND ".join(
    f"coalesce(stored.{name}, 0) = coalesce(right_sums.{name}, 0)" if name in NUMBERS
    else f"stored.{name} = right_sums.{name}"
    for name in KEY_COLUMNS.split(", ")
)  # fmt: skip


def _columns(table: str, names: tuple[str, ...] = SUMS) -> str:
    return ", ".join(f"{table}.{name}" for name in names)


# A sum is never empty, so one that is not there is different from all.
DIFFERENCES = f"""
WITH right_sums AS ({RIGHT_SUMS})
SELECT stored.id, coalesce(stored.quarter, right_sums.quarter) AS quarter,
       coalesce(stored.user_id, right_sums.user_id) AS user_id,
       coalesce(stored.language_model, right_sums.language_model) AS language_model,
       coalesce(stored.purpose, right_sums.purpose) AS purpose,
       coalesce(stored.completions, 0), coalesce(stored.cost_usd, 0),
       coalesce(right_sums.completions, 0), coalesce(right_sums.cost_usd, 0)
FROM right_sums FULL JOIN conversations_ledgersum AS stored ON {SAME_KEY}
WHERE ({_columns("stored")}) IS DISTINCT FROM ({_columns("right_sums")})
ORDER BY 2, 3 NULLS LAST, 4, 5, 1
"""  # noqa: S608  # constants
EMPTY = "DELETE FROM conversations_ledgersum"
FILL = f"{ADD_TO_LEDGER_SUMS} SELECT {KEY_COLUMNS}, {SUM_COLUMNS} FROM ({RIGHT_SUMS}) AS right_sums"  # noqa: S608  # constants


@dataclass(frozen=True, slots=True)
class LedgerSumDifference:
    """A sum that was not what the ledger says: *id* is None for one that was not there at all."""

    id: int | None
    quarter: dt.datetime
    user_id: int | None
    language_model: str
    purpose: str
    stored_completions: int
    stored_cost_usd: Decimal
    completions: int
    cost_usd: Decimal


def recompute_ledger_sums(*, mend: bool = True) -> list[LedgerSumDifference]:
    """Return what differed; nothing does unless rows were changed by hand. All sums are rewritten then."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(LOCK)
        cursor.execute(DIFFERENCES)
        found = [LedgerSumDifference(*row) for row in cursor.fetchall()]
        if found and mend:
            cursor.execute(EMPTY)
            cursor.execute(FILL)
    return found
