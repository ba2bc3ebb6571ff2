"""The days that figures are read for, by the clock of whoever reads them."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Period:
    """All days from *first* to *last* as they are in *zone*, where a day may have 23, 24 or 25 hours, or none."""

    first: dt.date
    last: dt.date
    zone: dt.tzinfo

    @property
    def days(self) -> list[dt.date]:
        return [self.first + dt.timedelta(days=number) for number in range((self.last - self.first).days + 1)]

    @property
    def begin(self) -> dt.datetime:
        return self._midnight(self.first)

    @property
    def end(self) -> dt.datetime:
        """The moment after the last one that belongs to it."""
        return self._midnight(self.last + dt.timedelta(days=1))

    @property
    def midnights(self) -> list[dt.datetime]:
        """When each of its days begins, in UTC."""
        return [self._midnight(day) for day in self.days]

    def _midnight(self, day: dt.date) -> dt.datetime:
        """Return the first moment of *day*, also where the clock is put forward at midnight."""
        return dt.datetime.combine(day, dt.time(), self.zone).astimezone(dt.UTC)
