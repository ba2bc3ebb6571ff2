"""Reserve money for a request before it leaves, and settle it when the request has ended.

Each request belongs to the day and the month (UTC) in which its row of the ledger was written, of its user and of the
whole site: four sums, or two where it has no user. All of them are changed by one statement and always in the same
order, so that no two requests wait for each other in a circle. The requests of all users meet in the site's sums, which
are kept in parts (`site_parts`): nothing else may be done in a transaction once it has touched them.

A reply that calls tools reserves money before its first request for all requests that may follow:

    reservation = requests that may follow · (largest prompt · highest input price + reply reserve · output price)

It is stored with the reply's run, beside what the running request reserves itself. Each later request takes its own
worst case out of it, in the transaction that writes its row of the ledger. It moves to the day and the month of that
row, so a loop that goes on over midnight needs the new day's money. When the run ends, however it ends, a trigger of
the database releases what is left (`migrations/_reservations_released.py`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection

from conversations.core.errors import AccessError, MoneyReserved, SiteMoneyReserved
from conversations.core.money.allowance import LimitPeriod, Whose, allowance_error
from conversations.core.money.unit_prices import UnitPrices, worst_case_usd
from conversations.models import Completion, Run, Scenario
from conversations.selectors.figures.spending import MoneyLimits, allowances
from conversations.services.language_models.effective_policy import effective_policy
from conversations.services.language_models.model_context import ModelContext, model_context

from .ledger_sums import ADD_TO_LEDGER_SUMS, AS_LEDGER_SUMS, ON_CONFLICT_ADD
from .site_parts import FITS, reserve_in_all_parts
from .spending_sums import ANY_PART, CHANGE, HAS_SUM, PARTS, SUMS

PLACE = "CASE WHEN stored.user_id IS NULL THEN 2 ELSE 0 END + CASE stored.period WHEN 'day' THEN 1 ELSE 2 END"
# A user's sums, if they cover it, and the site's if each of them has what is asked for in one part. What does not add
# to a sum is always covered.
RESERVE = f"""
WITH {CHANGE}, site AS MATERIALIZED (
  SELECT NOT %(in_all_parts)s AND bool_and({FITS}) AS fits FROM change WHERE place > 2
), changed AS (
  INSERT INTO conversations_spending AS stored (user_id, period, begins_on, part, spent_usd, reserved_usd, free_usd)
  SELECT user_id, period, begins_on, part, 0, usd, CASE WHEN place > 2 THEN -usd END FROM change
  WHERE CASE WHEN place > 2 THEN (SELECT fits FROM site) ELSE usd <= 0 OR limit_usd IS NULL OR usd <= limit_usd END
  ORDER BY place, begins_on
  ON CONFLICT (user_id, period, begins_on, part) DO UPDATE
  SET reserved_usd = stored.reserved_usd + EXCLUDED.reserved_usd, free_usd = stored.free_usd + EXCLUDED.free_usd
  WHERE EXCLUDED.reserved_usd <= 0 OR CASE
    WHEN stored.user_id IS NULL AND stored.limit_usd IS NULL THEN (%(limits)s::numeric[])[{PLACE}] IS NULL
    WHEN stored.user_id IS NULL
    THEN stored.limit_usd = (%(limits)s::numeric[])[{PLACE}] AND EXCLUDED.reserved_usd <= stored.free_usd
    ELSE (stored.spent_usd + stored.reserved_usd + EXCLUDED.reserved_usd <= (%(limits)s::numeric[])[{PLACE}])
         IS NOT FALSE
  END
  RETURNING user_id
)
SELECT (SELECT count(*) FROM changed WHERE user_id IS NOT NULL) = (SELECT count(*) FROM change WHERE place <= 2),
       (SELECT fits FROM site),
       (SELECT count(*) FROM changed WHERE user_id IS NULL) = (SELECT count(*) FROM change WHERE place > 2)
"""  # noqa: S608  # constants

# What cost more than it had reserved takes the excess from what is free in all parts of the site's sums.
SETTLE = f"""
WITH {{reply}} completion AS (
  UPDATE conversations_completion SET {{assignments}}, ended_at = statement_timestamp()
  WHERE id = %(id)s AND ended_at IS NULL {{after_reply}} RETURNING *
), {{written}} spent AS (
  INSERT INTO conversations_spending AS stored (user_id, period, begins_on, part, spent_usd, reserved_usd, free_usd)
  SELECT sum.user_id, sum.period, sum.begins_on, part.part,
         CASE WHEN part.is_own THEN amount.spent_usd ELSE 0 END,
         CASE WHEN part.is_own THEN -amount.reserved_usd ELSE 0 END,
         CASE WHEN sum.place > 2 AND NOT amount.exceeds THEN amount.reserved_usd - amount.spent_usd END
  FROM (
    SELECT user_id, created_at AS at, coalesce(cost_usd, 0) AS spent_usd, coalesce(reserved_usd, 0) AS reserved_usd,
           coalesce(cost_usd, 0) > coalesce(reserved_usd, 0) AS exceeds, {ANY_PART} AS part
    FROM completion
  ) AS amount {SUMS}
  CROSS JOIN LATERAL (
    SELECT each AS part, each = CASE WHEN sum.place > 2 THEN amount.part ELSE 0 END AS is_own
    FROM generate_series(0, {PARTS} - 1) AS each
  ) AS part
  WHERE {HAS_SUM} AND (part.is_own OR (sum.place > 2 AND amount.exceeds))
  ORDER BY sum.place, part.part
  ON CONFLICT (user_id, period, begins_on, part) DO UPDATE
  SET spent_usd = stored.spent_usd + EXCLUDED.spent_usd, reserved_usd = stored.reserved_usd + EXCLUDED.reserved_usd,
      free_usd = stored.free_usd + EXCLUDED.free_usd
)
{ADD_TO_LEDGER_SUMS} {AS_LEDGER_SUMS} FROM completion {ON_CONFLICT_ADD}
"""  # noqa: S608  # constants
# The text that the request gave, where it is to be stored with it. The reply is locked before the row of the ledger, as
# by what takes a run away and settles its rows: where that came first, the row is no longer open, and the text is not
# stored.
SETTLE_WITH_TEXT = {
    "reply": """
reply AS (
  SELECT id FROM conversations_message WHERE id = %(reply_id)s AND state = 'streaming' FOR NO KEY UPDATE
),""",
    "after_reply": "AND (SELECT count(*) FROM reply) >= 0",
    "written": """
written AS (
  UPDATE conversations_message AS message
  SET content = %(reply_content)s, content_tokens = %(reply_content_tokens)s, reasoning = %(reply_reasoning)s,
      reasoning_tokens = %(reply_reasoning_tokens)s, reasoning_seconds = %(reply_reasoning_seconds)s
  FROM completion WHERE message.id = completion.reply_id AND message.state = 'streaming'
),""",
}
SETTLE_ALONE = dict.fromkeys(SETTLE_WITH_TEXT, "")

PLACES: tuple[tuple[Whose, LimitPeriod], ...] = (
    ("user", "day"),
    ("user", "month"),
    ("site", "day"),
    ("site", "month"),
)


class NotCovered(Exception):
    """At least one of the sums does not cover the amounts; none of them may be changed."""


class PartsChanged(Exception):
    """A part of the site's sums was changed at the same moment; begin again, and reserve in all parts."""


class LoopNotCovered(Exception):
    """The money does not cover the requests that may follow; the reply has to do without them."""


class WrittenText(NamedTuple):
    """The whole text of the step that a reply is at, as its request gave it, and the reasoning before it.

    *reasoning_tokens* are what the provider reports; the seconds are None where nothing was thought.
    """

    reply_id: int
    content: str
    content_tokens: int
    reasoning: str
    reasoning_tokens: int | None
    reasoning_seconds: float | None

    def to_arguments(self) -> dict[str, Any]:
        return {"reply_id": self.reply_id} | {f"reply_{name}": value for name, value in self._asdict().items()}


class Amount(NamedTuple):
    """US dollars to reserve, or to release if negative, in the sums of *user_id* at that time."""

    user_id: int | None
    at: dt.datetime
    usd: Decimal


def reserve(amounts: Iterable[Amount], limits: MoneyLimits, *, in_all_parts: bool = False) -> None:
    """Add the amounts to all of their sums. Raises `NotCovered` or `PartsChanged`: then roll the transaction back.

    It has to be the last statement before the transaction's end. What costs nothing is always covered. All parts of the
    site's sums are looked at where one does not cover it, or at once: that raises no `PartsChanged`.
    """
    users, times, usd = zip(*amounts, strict=True)
    most = [limits.by_row.get(place) for place in PLACES]
    values = {"users": list(users), "times": list(times), "usd": list(usd), "limits": most}
    with connection.cursor() as cursor:
        cursor.execute(RESERVE, {**values, "in_all_parts": in_all_parts})
        users_cover, site_fits, site_changed = cursor.fetchone()
        if not users_cover:
            raise NotCovered
        if site_fits and not site_changed:
            raise PartsChanged
        if not site_fits and not reserve_in_all_parts(cursor, values):
            raise NotCovered


def why_not_covered(completion: Completion, limits: MoneyLimits) -> AccessError:
    """Return the error for a request that `reserve` has just refused."""
    read = allowances(completion.user, limits, at=completion.created_at)
    if error := allowance_error(read, completion.reserved_usd):
        return error
    # What stood in the way has ended since: it was reserved for other requests.
    is_users_own = any(each.whose == "user" for each in read)
    return MoneyReserved() if is_users_own else SiteMoneyReserved()


def settle(completion_id: int, columns: Mapping[str, Any], written: WrittenText | None = None) -> bool:
    """Write *columns* into the row of a request that has ended, and bring all sums up to it; *written* into its reply.

    Its reservation goes out of the running sums, its cost goes into them, and all of it into the ledger's sums. One
    statement, so all of it or nothing. Returns False, and changes nothing, if that has been done before.
    """
    assignments = ", ".join(f"{name} = %({name})s" for name in columns)
    statement = SETTLE.format(assignments=assignments, **(SETTLE_WITH_TEXT if written else SETTLE_ALONE))
    arguments = written.to_arguments() if written else {}
    with connection.cursor() as cursor:
        cursor.execute(statement, {**columns, **arguments, "id": completion_id})
        return bool(cursor.rowcount)


def worst_loop_usd(
    scenario: Scenario,
    prices: UnitPrices | None,
    *,
    requests: int,
    reply_reserve_tokens: int | None = None,
    context: ModelContext | None = None,
) -> Decimal | None:
    """Return the most that so many *requests* of a reply can cost, or None where a price is unknown.

    *reply_reserve_tokens* is the room of this reply, where that is not the scenario's; *context* is that of the
    language model, if it is another one than the scenario's.
    """
    context = context or model_context(scenario)
    language_model, policy = context.language_model, effective_policy(scenario, context)
    if reply_reserve_tokens:
        policy = replace(policy, reply_reserve_tokens=reply_reserve_tokens)
    worst_usd = worst_case_usd(
        prices,
        input_tokens=policy.budget_tokens(language_model),  # not calibrated: what the provider may count
        output_tokens=policy.reply_reserve_tokens or language_model.reply_reserve_tokens,
    )
    return None if worst_usd is None else requests * worst_usd


def requests_after(step: int) -> int:
    """Return how many requests may follow that of *step* if it may call tools: the further steps, then an answer."""
    return max(settings.TOOL_STEPS + 1 - step, 0)


def move_loop_reservation(completion: Completion, reserved_usd: Decimal) -> list[Amount]:
    """Set what the run of the completion's reply reserves to *reserved_usd*, and return the amounts that this changes.

    A run that has ended meanwhile reserves nothing: it would never be released.
    """
    running = Run.objects.select_for_update().exclude(state="ended")
    if (run := running.filter(reply_id=completion.reply_id).first()) is None:
        return []
    Run.objects.filter(pk=run.pk).update(
        payer=completion.user_id, reserved_usd=reserved_usd, reserved_at=completion.created_at
    )
    reserved = Amount(completion.user_id, completion.created_at, reserved_usd)
    if run.reserved_usd is None or run.reserved_at is None:
        return [reserved]
    return [Amount(run.payer_id, run.reserved_at, -run.reserved_usd), reserved]
