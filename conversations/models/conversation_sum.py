from __future__ import annotations

from django.db import models

from .sums import Sums


class ConversationSum(Sums):
    """The ledger's sums of one conversation over all closed days, from its first quarter of an hour to its last.

    In no period of closed days can it have cost more, so the most expensive of a period are found without adding up
    all of them (`selectors/figures/most_expensive_conversations`). What is in no conversation has *key_id* 0.
    """

    key_id = models.BigIntegerField(unique=True)
    first_quarter = models.DateTimeField()
    last_quarter = models.DateTimeField()

    class Meta:
        indexes = [
            # In the order of places, so that it is read from its end; with the time, so that nothing else is.
            models.Index(
                fields=["cost_usd", "input_tokens", "completions"],
                include=["key_id", "first_quarter", "last_quarter"],
                name="conversation_sum_dearest",
            ),
            models.Index(fields=["first_quarter", "last_quarter"], name="conversation_sum_in_time"),
        ]

    def __str__(self) -> str:
        return f"conversation {self.key_id}, up to the quarter from {self.last_quarter:%Y-%m-%d %H:%M}"
