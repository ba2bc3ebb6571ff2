"""Our side of a reconciliation: the usage that a provider has to bill by the ledger, by day (UTC) and language model.

A request counts on the day on which it left. One that a provider refused before it used anything is not in its export,
and is not counted here.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncDate

from conversations.models import Completion
from conversations.models.completion import Purpose
from conversations.reconciliation.comparison import Amounts, DayAndModel, Measure, add_up, plain_name

HAS_ENDED = Q(ended_at__isnull=False)
USED_SOMETHING = HAS_ENDED & (Q(input_tokens__gt=0) | Q(output_tokens__gt=0))
FIGURES: dict[str, Any] = {
    "billed_requests": Count("pk", filter=USED_SOMETHING),
    "billed_input": Sum("input_tokens", default=0),
    "billed_cached": Sum("cached_input_tokens", default=0),
    "billed_output": Sum("output_tokens", default=0),
    "billed_cost": Sum("cost_usd", default=Decimal(0)),
    "unbilled": Count("pk", filter=HAS_ENDED & ~USED_SOMETHING),
    "running": Count("pk", filter=~HAS_ENDED),
    "without_price": Count("pk", filter=HAS_ENDED & Q(cost_usd=None)),
    "counted_by_us": Count("pk", filter=USED_SOMETHING & Q(usage_estimated=True)),
    "cache_not_reported": Count(
        "pk", filter=USED_SOMETHING & Q(usage_estimated=False, cached_input_tokens=None) & ~Q(purpose=Purpose.EMBEDDING)
    ),
}
NOTES = ("unbilled", "running", "without_price", "counted_by_us", "cache_not_reported")
MEASURES = {
    Measure.REQUESTS: "billed_requests",
    Measure.INPUT: "billed_input",
    Measure.CACHED: "billed_cached",
    Measure.OUTPUT: "billed_output",
    Measure.COST: "billed_cost",
}


@dataclass(frozen=True, slots=True)
class BilledUsage:
    """*amounts* by day and plain name, and how many requests make them uncertain.

    *unbilled* were refused, *running* have not ended, *without_price* have no known cost, and of those *counted_by_us*
    the provider reported no usage. Of *cache_not_reported* it reported usage, but not what was cached.
    """

    amounts: Mapping[DayAndModel, Amounts]
    unbilled: int
    running: int
    without_price: int
    counted_by_us: int
    cache_not_reported: int


def billed_usage(
    first: dt.date, last: dt.date, *, same_as: Mapping[str, str] | None = None, without: frozenset[str] = frozenset()
) -> BilledUsage:
    """Return what was used from *first* to *last*, but for the models *without*, by their plain names: one query."""
    amounts: dict[DayAndModel, Amounts] = {}
    notes = dict.fromkeys(NOTES, 0)
    for row in _rows(first, last):
        place = DayAndModel(row["day"], plain_name(row["language_model"], same_as))
        if place.model in without:
            continue
        figures = {measure: Decimal(row[column]) for measure, column in MEASURES.items()}
        amounts[place] = add_up([amounts.get(place, {}), figures])
        for note in notes:
            notes[note] += row[note]
    return BilledUsage(amounts, **notes)


def _rows(first: dt.date, last: dt.date) -> Iterable[Any]:
    begin = dt.datetime.combine(first, dt.time(), dt.UTC)
    end = dt.datetime.combine(last, dt.time(), dt.UTC) + dt.timedelta(days=1)
    began = Completion.objects.filter(created_at__gte=begin, created_at__lt=end).order_by()
    grouped = began.values("language_model", day=TruncDate("created_at", tzinfo=dt.UTC))
    return grouped.annotate(**FIGURES)
