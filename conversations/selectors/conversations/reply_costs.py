"""What replies cost: the sums over all requests that were made for each, and why a dear one was dear.

All of it comes with the rows that a page reads anyway, the last request for each reply, and takes no statement more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Aggregate, Case, Count, F, JSONField, Q, QuerySet, Sum, When, Window

from conversations.core.money.cost_drivers import DEAR_USD, Dearness, DearRequest, is_dear, why_dear
from conversations.core.window.window_record import Part, WindowRecord
from conversations.models import Completion

HAS_ENDED = Q(ended_at__isnull=False)
# A smaller last request is never the reason why its reply was dear.
MAY_BE_THE_REASON = Q(cost_usd__gte=DEAR_USD / 2)


@dataclass(frozen=True, slots=True)
class ReplyCost:
    """What the *requests* for one reply have used. Cached tokens are part of the input.

    *estimated* of them have usage by our own count. *cost_usd* is the sum of the known costs, None if none is known.
    """

    requests: int
    estimated: int
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    cost_usd: Decimal | None
    unknown_costs: int
    dearness: Dearness | None


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
    "window_if_dear": Case(When(MAY_BE_THE_REASON, then=F("window")), output_field=JSONField()),
}


def with_reply_cost(completions: QuerySet[Completion]) -> QuerySet[Completion]:
    """Annotate each row with the sums of its reply, for `reply_cost`; also where one row of each reply is taken."""
    return completions.annotate(**SUMS)


def reply_cost(row: Any) -> ReplyCost | None:
    """Return what the reply cost whose last request is *row*, from `with_reply_cost`; None while none has ended."""
    if not row.reply_requests:
        return None
    return ReplyCost(
        requests=row.reply_requests,
        estimated=row.reply_estimated,
        input_tokens=row.reply_input_tokens,
        cached_input_tokens=row.reply_cached_input_tokens or 0,
        output_tokens=row.reply_output_tokens,
        cost_usd=row.reply_cost_usd,
        unknown_costs=row.reply_unknown_costs,
        dearness=_dearness(row) if is_dear(row.reply_cost_usd) else None,
    )


def _dearness(row: Any) -> Dearness:
    last = DearRequest(row.cost_usd, _parts_of(row.window_if_dear), row.output_tokens or 0, row.output_price_usd)
    return why_dear(row.reply_cost_usd, row.reply_requests, last)


def _parts_of(window: Mapping[str, Any] | None) -> dict[Part, int]:
    parts = WindowRecord.from_json(window).parts if window else {}
    return {part: tokens for part, tokens in parts.items() if part != "free"}
