"""What is left of money, and which error says why it does not cover a request."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from conversations.core.errors import (
    ApiKeyMoneyReserved,
    ApiKeyMoneyUsedUp,
    ApiKeyRequestTooExpensive,
    MoneyForbidden,
    MoneyReserved,
    MoneyUsedUp,
    MonthlyMoneyUsedUp,
    PriceUnknown,
    ReplyTooExpensive,
    SiteMoneyReserved,
    SiteMoneyUsedUp,
)
from conversations.core.money.allowance import Allowance, allowance_error

FIRST = dt.date(2026, 11, 1)


def of_day(limit, *, spent=0, reserved=0, whose="user", day=21):
    return Allowance(whose, "day", FIRST.replace(day=day), Decimal(limit), Decimal(spent), Decimal(reserved))


def of_month(limit, *, spent=0, reserved=0):
    return Allowance("user", "month", FIRST, Decimal(limit), Decimal(spent), Decimal(reserved))


def refused(*allowances, worst_usd=Decimal(1)):
    return type(allowance_error(allowances, worst_usd))


def test_what_is_left_is_neither_spent_nor_held_back():
    assert of_day(3, spent=1, reserved="0.5").left_usd == Decimal("1.5")


def test_nothing_is_left_where_more_was_spent_than_allowed():
    assert of_day(3, spent=5).left_usd == 0


def test_the_last_cent_may_be_spent():
    assert allowance_error([of_day(3, spent=1, reserved=1)], Decimal(1)) is None


@pytest.mark.parametrize(
    ("allowance", "error"),
    [
        (of_day(3, spent="2.01"), MoneyUsedUp),
        (of_day(3, spent=1, reserved="1.01"), MoneyReserved),
        (of_day("0.99"), ReplyTooExpensive),
        (of_day(0), MoneyForbidden),
        (of_day(3, spent="2.01", whose="site"), SiteMoneyUsedUp),
        (of_day(3, reserved=3, whose="site"), SiteMoneyReserved),
        (of_month(3, spent=3), MonthlyMoneyUsedUp),
        (of_day(3, spent="2.01", whose="key"), ApiKeyMoneyUsedUp),
        (of_day(3, reserved=3, whose="key"), ApiKeyMoneyReserved),
        (of_day("0.99", whose="key"), ApiKeyRequestTooExpensive),
    ],
)
def test_each_cause_has_a_sentence_of_its_own(allowance, error):
    assert refused(allowance) is error


def test_of_several_that_refuse_the_one_that_opens_last_speaks():
    assert refused(of_day(3, spent=3), of_month(9, spent=9)) is MonthlyMoneyUsedUp
    assert refused(of_day(3, reserved=3), of_month(9, spent=9)) is MonthlyMoneyUsedUp
    assert refused(of_day("0.5"), of_month(9, spent=9)) is ReplyTooExpensive


def test_what_costs_nothing_is_always_covered():
    assert allowance_error([of_day(0), of_month(1, spent=5)], Decimal(0)) is None


def test_an_unknown_worst_case_is_refused_where_anything_is_limited():
    assert refused(of_month(5), worst_usd=None) is PriceUnknown
    assert allowance_error([], None) is None


@pytest.mark.parametrize(
    ("allowance", "opens_at"),
    [
        (of_day(1, day=30), dt.datetime(2026, 12, 1, tzinfo=dt.UTC)),
        (of_day(1, day=21), dt.datetime(2026, 11, 22, tzinfo=dt.UTC)),
        (of_month(1), dt.datetime(2026, 12, 1, tzinfo=dt.UTC)),
        (Allowance("site", "month", dt.date(2027, 12, 1), Decimal(1)), dt.datetime(2028, 1, 1, tzinfo=dt.UTC)),
        (Allowance("site", "month", dt.date(2027, 1, 1), Decimal(1)), dt.datetime(2027, 2, 1, tzinfo=dt.UTC)),
    ],
)
def test_it_opens_again_when_the_next_one_begins(allowance, opens_at):
    assert allowance.opens_at == opens_at
