from __future__ import annotations

from django.db import models

from .sums import Sums

# Over how long the sums of each dimension go: conversations are many, and would fill a day with rows.
SPANS = dict.fromkeys(("language_model", "scenario", "purpose", "user"), ("day", "month")) | {
    "conversation": ("month",)
}
# Where a sum by quarters says whose it is, as it is written here: numbers in *key_id*, names in *key_name*.
KEY_IDS = {dimension: f"coalesce({dimension}_id, 0)" for dimension in ("user", "scenario", "conversation")}
KEY_NAMES = {name: name for name in ("language_model", "purpose")}


class RolledUpSum(Sums):
    """The ledger's sums for one UTC day or month, by one dimension: a few rows where `LedgerSum` has thousands.

    Only days and months that are closed are in it: nothing can be added to them any more. What is nobody's has
    *key_id* 0, as have all that are told apart by *key_name*.
    """

    dimension = models.CharField(max_length=20)
    span = models.CharField(max_length=5)
    begins_at = models.DateTimeField()
    key_id = models.BigIntegerField(default=0)
    key_name = models.CharField(max_length=200, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["dimension", "key_id", "key_name", "span", "begins_at"], name="rolled_up_sum_one_each"
            )
        ]
        indexes = [models.Index(fields=["dimension", "span", "begins_at"], name="rolled_up_sum_in_time")]

    def __str__(self) -> str:
        return f"{self.span} from {self.begins_at:%Y-%m-%d}, {self.dimension} {self.key_name or self.key_id}"
