"""The days of a page, read from its address."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

import pytest

from conversations.views.usage.period_form import MOST_DAYS, NAMED, choose_period

TODAY = dt.date(2026, 3, 1)


def days(first, last):
    return dt.date.fromisoformat(first), dt.date.fromisoformat(last)


def chosen(**query):
    return choose_period({name.rstrip("_"): value for name, value in query.items()}, today=TODAY, zone=dt.UTC)


def days_of(**query):
    period = chosen(**query).period
    return period.first, period.last


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("today", days("2026-03-01", "2026-03-01")),
        ("yesterday", days("2026-02-28", "2026-02-28")),
        ("7-days", days("2026-02-23", "2026-03-01")),
        ("30-days", days("2026-01-31", "2026-03-01")),
        ("this-month", days("2026-03-01", "2026-03-01")),
        ("last-month", days("2026-02-01", "2026-02-28")),
        ("12-months", days("2025-03-02", "2026-03-01")),
    ],
)
def test_a_name_stands_for_days_up_to_today(name, expected):
    assert days_of(period=name) == expected


def test_every_name_has_a_case_above_and_one_of_them_is_chosen():
    [choice] = [choice for choice in chosen(period="last-month").choices if choice.is_chosen]
    assert (len(NAMED), choice.query) == (7, "period=last-month")


def test_days_to_come_are_left_out():
    assert days_of(from_="2026-02-27", to="2027-01-01") == days("2026-02-27", "2026-03-01")
    assert days_of(from_="2027-01-01", to="2027-02-01") == days("2026-03-01", "2026-03-01")


def test_one_end_alone_is_enough():
    assert days_of(from_="2026-02-27") == days("2026-02-27", "2026-03-01")
    assert days_of(to="2026-02-27") == days("2026-02-27", "2026-02-27")


def test_of_too_many_days_the_last_are_taken_and_that_is_said():
    found = chosen(from_="1026-01-01", to="2026-03-01")
    assert (len(found.period.days), found.period.last) == (MOST_DAYS, TODAY)
    assert str(MOST_DAYS) in found.notice


@pytest.mark.parametrize("day", ["", " ", "0000-01-01", "2026-02-30", "１０", "-1", "2026-01-01T00:00", "9" * 500])
def test_what_is_no_day_leaves_the_usual_ones_and_that_is_said(day):
    found = chosen(from_=day or " ", to="2026-03-01")
    assert (found.name, bool(found.notice)) == ("30-days", True)


@pytest.mark.parametrize("query", [{"period": "last-month"}, {"from": "2026-01-05", "to": "2026-02-05"}])
def test_its_fields_choose_the_same_again(query):
    first = choose_period(query, today=TODAY, zone=ZoneInfo("Asia/Shanghai"))
    assert choose_period(first.fields, today=TODAY, zone=ZoneInfo("Asia/Shanghai")) == first
