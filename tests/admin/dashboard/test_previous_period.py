"""The days that a period is compared with."""

from __future__ import annotations

import datetime as dt

import pytest

from conversations.admin.dashboard.page import previous_period
from conversations.views.usage.period_form import choose_period


@pytest.mark.parametrize(
    ("query", "today", "first", "last"),
    [
        ({"period": "today"}, "2026-11-21", "2026-11-20", "2026-11-20"),
        ({"period": "7-days"}, "2026-11-21", "2026-11-08", "2026-11-14"),
        ({"period": "this-month"}, "2026-11-21", "2026-10-01", "2026-10-21"),
        ({"period": "this-month"}, "2026-03-31", "2026-02-01", "2026-02-28"),
        ({"period": "last-month"}, "2026-11-21", "2026-09-01", "2026-09-30"),
        ({"from": "2026-11-05", "to": "2026-11-06"}, "2026-11-21", "2026-11-03", "2026-11-04"),
    ],
)
def test_it_is_as_long_and_just_before(query, today, first, last):
    previous = previous_period(choose_period(query, today=dt.date.fromisoformat(today), zone=dt.UTC))
    assert (previous.first.isoformat(), previous.last.isoformat()) == (first, last)
