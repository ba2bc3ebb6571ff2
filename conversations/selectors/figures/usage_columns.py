"""Usage columns for lists of conversations or users, from the ledger's sums.

A completion that has not ended has neither a cost nor an unknown one yet.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TypedDict, TypeVar, cast

from django.db.models import Case, DecimalField, Model, OuterRef, QuerySet, Subquery, Sum, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from conversations.models import LedgerSum

AnyModel = TypeVar("AnyModel", bound=Model)

# To sort by: rows without a figure come after those with 0. Expressions, as the admin turns them round itself.
BY_COST = Coalesce("cost_usd", Value(Decimal(-1)), output_field=DecimalField())
BY_INPUT = Coalesce("input_tokens", Value(Decimal(-1)), output_field=DecimalField())
KNOWN_COSTS = Sum("completions") - Sum("unknown_costs")


class UsageColumns(TypedDict):
    """The columns that `with_usage` adds to a row."""

    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    unknown_costs: int | None


def with_usage(queryset: QuerySet[AnyModel], *, of: str) -> QuerySet[AnyModel]:
    """Annotate rows with their part of the ledger: `input_tokens`, `output_tokens`, `cost_usd`, `unknown_costs`.

    *of* is the sum's foreign key to the rows: `conversation` or `user`. A row without completions has NULL everywhere;
    a row with nothing but unknown costs has NULL as its cost.
    """
    sums = LedgerSum.objects.filter(**{of: OuterRef("pk")}).order_by().values(of)

    def figure(expression: Combinable) -> Subquery:
        return Subquery(sums.annotate(known_costs=KNOWN_COSTS, figure=expression).values("figure"))

    annotated = queryset.annotate(
        input_tokens=figure(Sum("input_tokens")),
        output_tokens=figure(Sum("output_tokens")),
        cost_usd=figure(Case(When(known_costs__gt=0, then=Sum("cost_usd")))),
        unknown_costs=figure(Sum("unknown_costs")),
    )
    return cast("QuerySet[AnyModel]", annotated)
