"""Spending: running sums of the ledger by day and month, which limits are checked against."""

from __future__ import annotations

from decimal import Decimal

from django.conf import settings
from django.db import models


class SpendingPeriod(models.TextChoices):
    DAY = "day"
    MONTH = "month"


class Spending(models.Model):
    """The ledger's running sums for one user, or a part of those of the whole site (*user* None), in one day or month.

    *spent_usd* is the known cost of the completions that were begun in it (UTC) and have ended, *reserved_usd* the
    worst case of those that have not. Both can be computed again from the ledger; a row is what a reservation locks.

    A sum of the site is that of its rows, each of which is a *part*: a request changes any one of them, so one may be
    below 0. *free_usd* is what may be reserved in the part without a look at the others, out of the limit *limit_usd*;
    None where that is not known. `services/ledger/site_parts` says why no limit is passed.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="spendings")
    period = models.CharField(max_length=5, choices=SpendingPeriod)
    begins_on = models.DateField()
    part = models.PositiveSmallIntegerField(default=0)
    # Wider than any cost, so that no provider's nonsense makes a sum that can't be stored.
    spent_usd = models.DecimalField(max_digits=30, decimal_places=10, default=Decimal(0))
    reserved_usd = models.DecimalField(max_digits=30, decimal_places=10, default=Decimal(0))
    free_usd = models.DecimalField(max_digits=30, decimal_places=10, null=True)
    limit_usd = models.DecimalField(max_digits=30, decimal_places=10, null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "period", "begins_on", "part"], name="spending_one_each", nulls_distinct=False
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user or 'site'}, {self.period} of {self.begins_on}"
