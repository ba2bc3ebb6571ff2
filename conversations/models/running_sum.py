from __future__ import annotations

from django.db import models

from .sums import Sums


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
