"""The minute within which so many messages or requests are accepted."""

from __future__ import annotations

import datetime as dt
from math import ceil

from django.utils import timezone

MINUTE = dt.timedelta(minutes=1)


def seconds_until_minute_after(moment: dt.datetime) -> int:
    """Return in how many seconds a minute has passed since *moment*, at least one."""
    return max(1, ceil((moment + MINUTE - timezone.now()).total_seconds()))
