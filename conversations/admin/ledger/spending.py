"""Spending beside its limits: on a user's page, and on the page of the site's budget."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from chatsite.accounts.admin.limits import SiteBudgetAdmin
from chatsite.accounts.limits import effective_limits
from chatsite.accounts.models import SiteBudget, User
from conversations.models import Spending
from conversations.selectors.figures.spending import spent_now

PERIODS = {"day": _("Today (UTC)"), "month": _("This month (UTC)")}


@dataclass(frozen=True, slots=True)
class Spent:
    """The sums of a day or month, and the *limit_usd* that they may reach; None is without limit."""

    sums: Spending
    limit_usd: Decimal | None

    @property
    def label(self) -> Any:
        return PERIODS[self.sums.period]

    @property
    def left_usd(self) -> Decimal | None:
        if self.limit_usd is None:
            return None
        return max(self.limit_usd - self.sums.spent_usd - self.sums.reserved_usd, Decimal(0))


def spent_by(user: User) -> str:
    return _table(user, effective_limits(user))


def spent_by_site(budget: SiteBudget) -> str:
    return _table(None, budget)


def _table(user: User | None, limits: Any) -> str:
    sums = spent_now(user, at=timezone.now())
    rows = [Spent(each, getattr(limits, f"money_per_{each.period}_usd")) for each in sums]
    return render_to_string("admin/conversations/_spent.html", {"rows": rows})


admin.site.unregister(SiteBudget)


@admin.register(SiteBudget)
class SiteBudgetWithSpendingAdmin(SiteBudgetAdmin):
    readonly_fields = ["spent"]

    def get_fieldsets(self, request: HttpRequest, obj: SiteBudget | None = None) -> list[Any]:
        return [*super().get_fieldsets(request, obj), (_("Spending"), {"fields": ["spent"]})]

    @display(description=_("so far"))
    def spent(self, budget: SiteBudget) -> str:
        return spent_by_site(budget)
