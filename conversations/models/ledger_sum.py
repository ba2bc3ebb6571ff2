from __future__ import annotations

from django.conf import settings
from django.db import models

from .completion import Purpose
from .sums import Sums

KEY = ("quarter", "user", "conversation", "scenario", "language_model", "purpose")


class LedgerSum(Sums):
    """The ledger's sums for one quarter of an hour, and all that figures are grouped by.

    A quarter of an hour, because every zone's days begin at the beginning of one, so that sums over days are exact by
    everybody's clock. Only settled completions are in it, each by the quarter in which its request left: the statement
    that settles one adds it here. Whoever deletes a person, a conversation or a scenario moves its sums to nobody's.
    """

    quarter = models.DateTimeField()
    # Without constraints of the database: settling would lock the rows of all three to check them.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, null=True, related_name="+", db_index=False, db_constraint=False
    )
    conversation = models.ForeignKey(
        "conversations.Conversation",
        models.DO_NOTHING,
        null=True,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    scenario = models.ForeignKey(
        "conversations.Scenario", models.DO_NOTHING, null=True, related_name="+", db_constraint=False
    )
    language_model = models.CharField(max_length=200)
    purpose = models.CharField(max_length=10, choices=Purpose)

    class Meta:
        constraints = [models.UniqueConstraint(fields=KEY, name="ledger_sum_one_each", nulls_distinct=False)]
        indexes = [
            models.Index(fields=["user", "quarter"], name="ledger_sum_of_user"),
            models.Index(fields=["conversation", "quarter"], name="ledger_sum_of_conversation"),
        ]

    def __str__(self) -> str:
        return f"{self.quarter:%Y-%m-%d %H:%M}, {self.language_model}, {self.purpose}"
