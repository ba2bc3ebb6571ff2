"""Sums over the ledger, so that figures need not add up all completions: by quarter of an hour, day, week and month."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from .completion import Purpose

KEY = ("quarter", "user", "conversation", "scenario", "language_model", "purpose")
# Over how long the sums of each dimension go: conversations are many, and would fill a day with rows.
SPANS = dict.fromkeys(("language_model", "scenario", "purpose", "user"), ("day", "month")) | {
    "conversation": ("month",)
}
# Users have weeks, from Monday on, besides: most periods that are read have no whole month in them. Weeks are added up
# from days, for all that are closed and have none yet.
WEEKLY_DIMENSION = "user"
# Where a sum by quarters says whose it is, as it is written here: numbers in *key_id*, names in *key_name*.
KEY_IDS = {dimension: f"coalesce({dimension}_id, 0)" for dimension in ("user", "scenario", "conversation")}
KEY_NAMES = {name: name for name in ("language_model", "purpose")}
# What the most expensive are found by, each where those before it are the same. `ActiveUsers` keeps who and what comes
# next in this order, so figures must compare in it too.
RANKED_BY = ("cost_usd", "input_tokens", "completions")


class Sums(models.Model):
    """The sums over completions, which are the columns of every table of sums.

    *cost_usd* adds up the known costs, *unknown_costs* counts the others. *cost_with_history_usd* is the cost of those
    completions for which *cost_without_history_usd* is known too. *cache_reported_input_tokens* is the input of those
    whose provider reports what was cached, and so what *cached_input_tokens* is a part of. Of those whose usage the
    provider reported *reported_input_tokens* is its count, *estimated_input_tokens* ours, and *estimate_error_tokens*
    the sum of the differences without their signs.
    """

    completions = models.PositiveIntegerField(default=0)
    replies = models.PositiveIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    stopped = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0)
    cached_input_tokens = models.PositiveBigIntegerField(default=0)
    cache_reported_input_tokens = models.PositiveBigIntegerField(default=0)
    cache_write_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    reasoning_tokens = models.PositiveBigIntegerField(default=0)
    cost_usd = models.DecimalField(max_digits=30, decimal_places=10, default=0)
    unknown_costs = models.PositiveIntegerField(default=0)
    cost_with_history_usd = models.DecimalField(max_digits=30, decimal_places=10, default=0)
    cost_without_history_usd = models.DecimalField(max_digits=30, decimal_places=10, default=0)
    reported_input_tokens = models.PositiveBigIntegerField(default=0)
    estimated_input_tokens = models.PositiveBigIntegerField(default=0)
    estimate_error_tokens = models.PositiveBigIntegerField(default=0)

    class Meta:
        abstract = True


class LedgerSum(Sums):
    """The ledger's sums for one quarter of an hour, and all that figures are grouped by.

    A quarter of an hour, because every zone's days begin at the beginning of one, so that sums over days are exact by
    any clock. Only settled completions are in it, each by the quarter in which its request left: the statement that
    settles one adds it here. Deleting a user, a conversation or a scenario moves its sums to rows that name none.
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


class RolledUpSum(Sums):
    """The ledger's sums for one UTC day, week or month, by one dimension: a few rows where `LedgerSum` has thousands.

    Only days, weeks and months that are closed are in it: nothing can be added to them any more. What belongs to none
    has *key_id* 0, as have all that are told apart by *key_name*.
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


class RunningSum(Sums):
    """The sums over the whole ledger from its beginning to the end of one quarter of an hour.

    The difference of two of them are the sums of what lies between, for any days of any zone. *users* is how many
    people were active in the 24 hours up to the quarter's end. There is a row for each quarter in which either changes,
    and for the last one of each UTC day that is closed: the last of all tells up to when days are. What no row is there
    for is as in the row before it.
    """

    quarter = models.DateTimeField(unique=True)
    users = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"up to the quarter from {self.quarter:%Y-%m-%d %H:%M}"


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
                name="conversation_sum_by_cost",
            ),
            models.Index(fields=["first_quarter", "last_quarter"], name="conversation_sum_in_time"),
            models.Index(fields=["last_quarter", "first_quarter"], name="conversation_sum_by_end"),
        ]

    def __str__(self) -> str:
        return f"conversation {self.key_id}, up to the quarter from {self.last_quarter:%Y-%m-%d %H:%M}"
