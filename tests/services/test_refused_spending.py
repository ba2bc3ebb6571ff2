"""What is refused because the money that is left does not cover it, and which limit says so."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from chatsite.accounts.models import SiteBudget
from conversations.core.errors import (
    MoneyForbidden,
    MoneyReserved,
    MoneyUsedUp,
    MonthlyMoneyUsedUp,
    PriceUnknown,
    ReplyTooExpensive,
    SiteMoneyReserved,
    SiteMoneyUsedUp,
    SiteMonthlyMoneyUsedUp,
)
from conversations.core.money.unit_prices import UnitPrices
from conversations.models import Completion
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.services.spending import everywhere, limit, open_row, settle_at, sums
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(db):
    return make_user("alice")


# Unknown prices


@pytest.mark.parametrize("prices", [None, UnitPrices(None, None), UnitPrices(None, Decimal(1))])
def test_an_unknown_price_is_refused_where_money_is_limited(alice, prices):
    limit(alice, money_per_month_usd=100)
    with pytest.raises(PriceUnknown):
        open_row(alice, prices=prices)
    assert not Completion.objects.exists()


def test_an_unknown_price_is_refused_where_the_sites_money_is_limited(alice):
    SiteBudget.objects.create(money_per_day_usd=100)
    with pytest.raises(PriceUnknown):
        open_row(alice, prices=None)


# What is refused


def test_a_request_that_takes_the_last_cent_goes_out_and_the_next_does_not(alice):
    limit(alice, money_per_day_usd=2)
    settle_at(open_row(alice), 1)
    settle_at(open_row(alice), 1)
    with pytest.raises(MoneyUsedUp) as refused:
        open_row(alice, worst_usd=Decimal("0.000001"))
    assert refused.value.opens_at == next_midnight()
    assert sums() == everywhere(2, 0)


def next_midnight():
    today = Completion.objects.latest("pk").created_at.astimezone(dt.UTC).date()
    return dt.datetime.combine(today + dt.timedelta(days=1), dt.time(), dt.UTC)


@pytest.mark.parametrize(
    ("whose", "period", "error"),
    [
        ("user", "day", MoneyUsedUp),
        ("user", "month", MonthlyMoneyUsedUp),
        ("site", "day", SiteMoneyUsedUp),
        ("site", "month", SiteMonthlyMoneyUsedUp),
    ],
)
def test_the_sum_that_refuses_says_so(alice, whose, period, error):
    settle_at(open_row(alice), 1)
    money = {f"money_per_{period}_usd": Decimal("1.5")}
    limit(alice, **money) if whose == "user" else SiteBudget.objects.create(**money)
    with pytest.raises(error) as refused:
        open_row(alice)
    assert type(refused.value) is error
    assert sums() == everywhere(1, 0)


def test_others_replies_do_not_count_against_a_person(alice):
    limit(alice, money_per_day_usd=1)
    open_row(make_user("bob"))
    assert open_row(alice)


def test_what_is_only_held_back_opens_when_it_is_given_back(alice):
    limit(alice, money_per_day_usd=1)
    running = open_row(alice)
    with pytest.raises(MoneyReserved):
        open_row(alice)
    settle_at(running, "0")
    assert open_row(alice)


def test_the_sites_money_can_be_held_back_by_others(alice):
    SiteBudget.objects.create(money_per_day_usd=1)
    open_row(make_user("bob"))
    with pytest.raises(SiteMoneyReserved):
        open_row(alice)


def test_what_no_waiting_would_cover_promises_no_time(alice):
    limit(alice, money_per_day_usd=0)
    with pytest.raises(MoneyForbidden):
        open_row(alice)


def test_what_the_whole_prompt_would_cost_is_looked_at_before_the_message_is_stored(alice, settings):
    settings.OPENAI_API_KEY = "x"
    settings.LANGUAGE_MODELS = "m context_window=8192 reply_reserve=100 encoding=o200k_base input_usd=1 output_usd=2"
    conversation = begin(alice)
    end_reply(post(conversation, "word " * 2_000).reply.pk, COMPLETE, content="Indeed.")
    limit(alice, money_per_day_usd="0.001")  # enough for the next message alone, not beside the one before it
    with pytest.raises(ReplyTooExpensive):
        post(conversation, "And now?")
    assert conversation.messages.count() == 2


def test_what_costs_nothing_goes_out_though_all_is_spent(alice):
    settle_at(open_row(alice), 3)
    limit(alice, money_per_day_usd=1)
    assert open_row(alice, prices=UnitPrices(Decimal(0), Decimal(0))).reserved_usd == 0
