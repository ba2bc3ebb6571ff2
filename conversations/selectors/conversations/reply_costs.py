"""Costs of replies: the sums over all requests for each, and what most of an expensive one was spent on.

All of it comes with the rows that a page reads anyway, the last request for each reply, and takes no statement more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models import Aggregate, Case, Count, F, JSONField, Q, QuerySet, Sum, When, Window

from conversations.core.money.cost_drivers import (
    EXPENSIVE_FROM_USD,
    CostDriver,
    LastRequest,
    is_expensive,
    main_cost_driver,
)
from conversations.core.window.window_record import Part, WindowRecord
from conversations.models import Completion

HAS_ENDED = Q(ended_at__isnull=False)
# A smaller last request is never what drives the cost of an expensive reply.
MAY_BE_THE_DRIVER = Q(cost_usd__gte=EXPENSIVE_FROM_USD / 2)


@dataclass(frozen=True, slots=True)
class ReplyCost:
    """The usage and cost of the *requests* for one reply. Cached tokens are part of the input, None if not reported.

    *estimated* of them have usage by our own count. *cost_usd* is the sum of the known costs, None if none is known.
    """

    requests: int
    estimated: int
    input_tokens: int | None
    cached_input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    unknown_costs: int
    cost_driver: CostDriver | None


class CostRow(NamedTuple):
    """The columns `COST_COLUMNS` of the last request for a reply: sums over all of them, then this one's own.

    *window* is None where this request can't be what drives the cost of its reply.
    """

    requests: int
    estimated: int
    input_tokens: int | None
    cached_input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    unknown_costs: int
    window: Mapping[str, Any] | None
    last_cost_usd: Decimal | None
    last_output_tokens: int | None
    last_output_price_usd: Decimal | None


def _of_reply(aggregate: Aggregate) -> Window:
    return Window(aggregate, partition_by=[F("reply_id")])


SUMS = {
    "reply_requests": _of_reply(Count("pk", filter=HAS_ENDED)),
    "reply_estimated": _of_reply(Count("pk", filter=Q(usage_estimated=True))),
    "reply_input_tokens": _of_reply(Sum("input_tokens")),
    "reply_cached_input_tokens": _of_reply(Sum("cached_input_tokens")),
    "reply_output_tokens": _of_reply(Sum("output_tokens")),
    "reply_cost_usd": _of_reply(Sum("cost_usd")),
    "reply_unknown_costs": _of_reply(Count("pk", filter=HAS_ENDED & Q(cost_usd=None))),
    "window_if_expensive": Case(When(MAY_BE_THE_DRIVER, then=F("window")), output_field=JSONField()),
}


COST_COLUMNS = (*SUMS, "cost_usd", "output_tokens", "output_price_usd")


def with_reply_cost(completions: QuerySet[Completion]) -> QuerySet[Completion]:
    """Annotate each row with the sums of its reply, for `COST_COLUMNS`; also where one row of each reply is taken."""
    return completions.annotate(**SUMS)


def reply_cost(row: CostRow) -> ReplyCost | None:
    """Return what the reply cost whose last request is *row*; None while no request for it has ended."""
    if not row.requests:
        return None
    return ReplyCost(
        requests=row.requests,
        estimated=row.estimated,
        input_tokens=row.input_tokens,
        cached_input_tokens=row.cached_input_tokens,
        output_tokens=row.output_tokens,
        cost_usd=row.cost_usd,
        unknown_costs=row.unknown_costs,
        cost_driver=_cost_driver(row, row.cost_usd)
        if row.cost_usd is not None and is_expensive(row.cost_usd)
        else None,
    )


def _cost_driver(row: CostRow, cost_usd: Decimal) -> CostDriver:
    parts = _parts_of(row.window)
    last = LastRequest(row.last_cost_usd, parts, row.last_output_tokens or 0, row.last_output_price_usd)
    return main_cost_driver(cost_usd, row.requests, last)


def _parts_of(window: Mapping[str, Any] | None) -> dict[Part, int]:
    parts = WindowRecord.from_json(window).parts if window else {}
    return {part: tokens for part, tokens in parts.items() if part != "free"}
