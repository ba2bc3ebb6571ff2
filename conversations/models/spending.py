"""Spending: running sums of the ledger by day and month, which limits are checked against."""

from __future__ import annotations

from decimal import Decimal

from django.conf import settings
from django.db import models


class SpendingPeriod(models.TextChoices):
    DAY = "day"
    MONTH = "month"


class Spending(models.Model):
    """The ledger's running sums for one user, or for the whole site (*user* None), in one day or month (UTC).

    *spent_usd* is the known cost of the completions that were begun in it and have ended, *reserved_usd* the worst case
    of those that have not. Both can be computed again from the ledger; a row is what a reservation locks and checks.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="spendings")
    period = models.CharField(max_length=5, choices=SpendingPeriod)
    begins_on = models.DateField()
    # Wider than any cost, so that no provider's nonsense makes a sum that can't be stored.
    spent_usd = models.DecimalField(max_digits=30, decimal_places=10, default=Decimal(0))
    reserved_usd = models.DecimalField(max_digits=30, decimal_places=10, default=Decimal(0))

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "period", "begins_on"], name="spending_one_each", nulls_distinct=False
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user or 'site'}, {self.period} of {self.begins_on}"
