"""Costs that providers report themselves, beside ours for the same requests, by language model.

difference = theirs − ours, of the requests of which both are known
a request differs if |theirs − ours| > 1 % of the larger of the two
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, F, Q, Sum
from django.db.models.functions import Abs, Greatest

from conversations.models import Completion

TOLERANCE = Decimal("0.01")
BOTH = Q(cost_usd__isnull=False)
DIFFERS = BOTH & Q(difference__gt=TOLERANCE * Greatest("cost_usd", "reported_cost_usd"))


@dataclass(frozen=True, slots=True)
class ReportedCosts:
    """Of *requests* with both costs *differing* differ, with what they cost by us and by the provider.

    *unpriced* are further requests, of which only the provider says what they cost.
    """

    language_model: str
    requests: int
    differing: int
    cost_usd: Decimal
    reported_cost_usd: Decimal
    unpriced: int

    @property
    def difference_usd(self) -> Decimal:
        return self.reported_cost_usd - self.cost_usd

    @property
    def difference_percent(self) -> Decimal | None:
        """The difference as a part of our cost; None where that is nothing."""
        return 100 * self.difference_usd / self.cost_usd if self.cost_usd else None


def reported_costs(*, begin: dt.datetime, end: dt.datetime) -> list[ReportedCosts]:
    """Return one entry for each language model of which costs are reported from *begin* to before *end*: one query."""
    rows = (
        Completion.objects.filter(reported_cost_usd__isnull=False, created_at__gte=begin, created_at__lt=end)
        .annotate(difference=Abs(F("reported_cost_usd") - F("cost_usd")))
        .order_by("language_model")
        .values("language_model")
        .annotate(
            requests=Count("pk", filter=BOTH),
            differing=Count("pk", filter=DIFFERS),
            our_usd=Sum("cost_usd", default=Decimal(0)),
            their_usd=Sum("reported_cost_usd", filter=BOTH, default=Decimal(0)),
            unpriced=Count("pk", filter=~BOTH),
        )
    )
    return [
        ReportedCosts(
            row["language_model"],
            row["requests"],
            row["differing"],
            row["our_usd"],
            row["their_usd"],
            row["unpriced"],
        )
        for row in rows
    ]
