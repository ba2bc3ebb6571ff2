"""Activity of closed days: which users were active, and how many conversations, to count without all of their sums."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models


class BitsField(models.Field):  # type: ignore[type-arg]  # its values are made and read by SQL alone
    """A string of bits of any length, numbered from 0."""

    def db_type(self, connection: Any) -> str:
        return "bit varying"


class ActiveUsers(models.Model):
    """Who was active in one closed day, week or month (UTC), and who of them cost most: all of `RolledUpSum`'s users.

    Bit *n* of *users* stands for the user with the number *n*, bit 0 for requests of no user. All who are not among the
    *most_expensive*, in any order, cost at most as much as the *next*; 0 where there are no others. That stays true
    when users are deleted, but for what belongs to none.

    *anonymous_completions* are those of no user. In a closed day only a deletion changes them. Where `RolledUpSum` has
    another number, a user was deleted by code that does not know this table, and the row is not to be read.
    """

    span = models.CharField(max_length=5)
    begins_at = models.DateTimeField()
    users = BitsField()
    most_expensive = ArrayField(models.BigIntegerField())
    next_cost_usd = models.DecimalField(max_digits=30, decimal_places=10)
    next_input_tokens = models.PositiveBigIntegerField()
    next_completions = models.PositiveIntegerField()
    anonymous_completions = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["span", "begins_at"], name="active_users_one_each")]

    def __str__(self) -> str:
        return f"{self.span} from {self.begins_at:%Y-%m-%d}"


class ConversationsOfDay(models.Model):
    """How many conversations *began* on one closed day (UTC), and how many *ended*: were active on none after it.

    They are those of `ConversationSum`, each counted once in both; what is in no conversation is not among them. The
    last closed day has a row whatever happened on it, and only there are *anonymous_completions*: those of no
    conversation, in all closed days. Where `ConversationSum` has another number, or is ahead, none of this is to be
    read: it was changed by code that does not know this table.
    """

    begins_at = models.DateTimeField(unique=True)
    began = models.PositiveIntegerField()
    ended = models.PositiveIntegerField()
    anonymous_completions = models.PositiveIntegerField(null=True)

    def __str__(self) -> str:
        return f"{self.begins_at:%Y-%m-%d}: {self.began} began, {self.ended} ended"
