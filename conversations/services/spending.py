"""Hold money back for a request before it leaves, and give it back when the request has ended.

Each request belongs to the day and the month (UTC) in which its row of the ledger was written, of its person and of the
whole site: four sums, or two where it has no person. All of them are changed by one statement and always in the same
order, so that no two requests wait for each other in a circle. Everybody's requests meet in the site's rows: nothing
else may be done in a transaction once it has touched them.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.db import connection

from conversations.core.errors import AccessError, MoneyHeldBack, SiteMoneyHeldBack
from conversations.core.money import Period, Whose, refusal_of
from conversations.models import Completion
from conversations.selectors.spending import MoneyLimits, allowances

from .ledger_sums import ADD_TO_LEDGER_SUMS, AS_LEDGER_SUMS, ON_CONFLICT_ADD

# The sums that each `completion` belongs to, the busiest last: they are locked for the shortest time.
SUMS = """
CROSS JOIN LATERAL (SELECT (completion.created_at AT TIME ZONE 'UTC')::date AS today) AS clock
CROSS JOIN LATERAL (
  VALUES (1, completion.user_id, 'day', today), (2, completion.user_id, 'month', date_trunc('month', today)::date),
         (3, NULL, 'day', today), (4, NULL, 'month', date_trunc('month', today)::date)
) AS sum (place, user_id, period, begins_on)
"""
# A person who was deleted meanwhile has no sums any more; the site has.
HAS_SUM = "(sum.user_id IS NOT NULL OR sum.place > 2)"

RESERVE = f"""
INSERT INTO conversations_spending AS stored (user_id, period, begins_on, spent_usd, reserved_usd)
SELECT sum.user_id, sum.period, sum.begins_on, 0, completion.reserved_usd
FROM conversations_completion AS completion {SUMS}
WHERE completion.id = %(completion)s AND {HAS_SUM}
  AND completion.reserved_usd <= (%(limits)s::numeric[])[sum.place]
ORDER BY sum.place
ON CONFLICT (user_id, period, begins_on) DO UPDATE
SET reserved_usd = stored.reserved_usd + EXCLUDED.reserved_usd
WHERE stored.spent_usd + stored.reserved_usd + EXCLUDED.reserved_usd <= (%(limits)s::numeric[])[
  CASE WHEN stored.user_id IS NULL THEN 2 ELSE 0 END + CASE stored.period WHEN 'day' THEN 1 ELSE 2 END
]
"""  # noqa: S608  # constants of this file

# The site's rows, in which everybody meets, are locked last.
SETTLE = f"""
WITH completion AS (
  UPDATE conversations_completion SET {{assignments}}, ended_at = statement_timestamp()
  WHERE id = %(id)s AND ended_at IS NULL RETURNING *
), spent AS (
  INSERT INTO conversations_spending AS stored (user_id, period, begins_on, spent_usd, reserved_usd)
  SELECT sum.user_id, sum.period, sum.begins_on, coalesce(completion.cost_usd, 0),
         -coalesce(completion.reserved_usd, 0)
  FROM completion {SUMS}
  WHERE {HAS_SUM}
  ORDER BY sum.place
  ON CONFLICT (user_id, period, begins_on) DO UPDATE
  SET spent_usd = stored.spent_usd + EXCLUDED.spent_usd, reserved_usd = stored.reserved_usd + EXCLUDED.reserved_usd
)
{ADD_TO_LEDGER_SUMS} {AS_LEDGER_SUMS} FROM completion {ON_CONFLICT_ADD}
"""  # noqa: S608  # constants

PLACES: tuple[tuple[Whose, Period], ...] = (("person", "day"), ("person", "month"), ("site", "day"), ("site", "month"))
WITHOUT_LIMIT = Decimal("Infinity")


class NotCovered(Exception):
    """At least one of the sums does not cover the request; none may be changed."""


def reserve(completion: Completion, limits: MoneyLimits) -> None:
    """Add the completion's `reserved_usd` to all of its sums. Raises `NotCovered`: then roll the transaction back.

    It has to be the last statement before the transaction's end. What costs nothing is covered always.
    """
    most = [limits.by_row.get(place) if completion.reserved_usd else None for place in PLACES]
    with connection.cursor() as cursor:
        cursor.execute(
            RESERVE,
            {
                "completion": completion.pk,
                "limits": [WITHOUT_LIMIT if limit is None else limit for limit in most],
            },
        )
        if cursor.rowcount != (4 if completion.user_id else 2):
            raise NotCovered


def why_not_covered(completion: Completion, limits: MoneyLimits) -> AccessError:
    """Return what to tell the person whose request has just been refused by `reserve`."""
    read = allowances(completion.user, limits, at=completion.created_at)
    if error := refusal_of(read, completion.reserved_usd):
        return error
    # What stood in the way has ended since: it was held back for others.
    persons = any(each.whose == "person" for each in read)
    return MoneyHeldBack() if persons else SiteMoneyHeldBack()


def settle(completion_id: int, columns: Mapping[str, Any]) -> bool:
    """Write *columns* into the row of a request that has ended, and bring all sums up to it.

    What was held back goes out of the running sums, its cost goes into them, and all of it into the ledger's sums. One
    statement, so all of it or nothing. Returns False, and changes nothing, if that has been done before.
    """
    assignments = ", ".join(f"{name} = %({name})s" for name in columns)
    with connection.cursor() as cursor:
        cursor.execute(SETTLE.format(assignments=assignments), {**columns, "id": completion_id})
        return bool(cursor.rowcount)
