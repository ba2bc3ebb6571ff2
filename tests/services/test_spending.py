"""Money held back before a request leaves, and given back when it has ended."""

from __future__ import annotations

import datetime as dt
import threading
import time
from decimal import Decimal

import pytest
from django.db import connection, transaction

from chatsite.accounts.models import Limits, SiteBudget
from conversations.core.errors import (
    MoneyHeldBack,
    MoneyOfMonthUsedUp,
    MoneyUsedUp,
    PriceUnknown,
    ReplyTooExpensive,
    SiteMoneyHeldBack,
    SiteMoneyOfMonthUsedUp,
    SiteMoneyUsedUp,
)
from conversations.core.usage import UnitPrices, Usage
from conversations.models import Completion, Spending
from conversations.models.completion import Purpose
from conversations.services.ledger import NewCompletion, Outcome, open_completion, settle_completion
from tests.people import make_user
from tests.waiting import LOOK_AGAIN_SECONDS, PATIENCE_SECONDS

pytestmark = pytest.mark.django_db
PRICES = UnitPrices(input_usd=Decimal(1), output_usd=Decimal(2))
DOLLAR = Decimal(1)


def asked(user, *, worst_usd=DOLLAR, purpose=Purpose.REPLY, prices=PRICES, **fields):
    """Return a request that may cost *worst_usd*, all of it for input."""
    tokens = int(worst_usd * 1_000_000)
    return NewCompletion(
        purpose=purpose,
        user=user,
        language_model="letters",
        body={},
        prices=prices,
        prompt_tokens=tokens,
        most_prompt_tokens=tokens,
        max_output_tokens=0,
        **fields,
    )


def open_row(user, **fields):
    return open_completion(asked(user, **fields))


def settle_at(completion, cost_usd):
    """Let the request have cost *cost_usd*."""
    assert settle_completion(completion, Outcome(usage=Usage(int(Decimal(cost_usd) * 1_000_000), 0)))


def sums():
    """Return (spent, reserved) of each sum."""
    return {
        (row.user and row.user.name, row.period): (row.spent_usd, row.reserved_usd) for row in Spending.objects.all()
    }


def everywhere(spent, reserved):
    return {
        (whose, period): (Decimal(spent), Decimal(reserved)) for whose in ("Alice", None) for period in ("day", "month")
    }


@pytest.fixture
def alice(db):
    return make_user("alice")


def limit(user, **money):
    Limits.objects.update_or_create(user=user, defaults=money)


# Holding back and settling


def test_the_worst_case_is_held_back_from_the_person_and_the_site():
    completion = open_row(make_user("alice"))
    assert completion.reserved_usd == 1
    assert sums() == everywhere(0, 1)


def test_settling_gives_it_back_and_adds_what_it_cost(alice):
    settle_at(open_row(alice), "0.25")
    assert sums() == everywhere("0.25", 0)


def test_settling_twice_changes_nothing(alice):
    completion = open_row(alice)
    settle_at(completion, "0.25")
    assert not settle_completion(completion, Outcome(usage=Usage(1_000_000, 0)))
    assert sums() == everywhere("0.25", 0)


def test_what_is_not_billed_gives_everything_back(alice):
    settle_completion(open_row(alice), Outcome(not_billed=True))
    assert sums() == everywhere(0, 0)


def test_what_costs_more_than_was_held_back_is_spent_all_the_same(alice):
    limit(alice, money_per_day_usd=1)
    settle_at(open_row(alice), 3)
    assert sums() == everywhere(3, 0)


def test_the_output_is_held_back_at_its_largest_and_the_input_as_the_provider_may_count_it(alice):
    new = NewCompletion(
        purpose=Purpose.REPLY,
        user=alice,
        language_model="letters",
        body={},
        prices=UnitPrices(Decimal(1), Decimal(2), cached_input_usd=Decimal("0.1")),
        prompt_tokens=100_000,
        most_prompt_tokens=300_000,
        max_output_tokens=50_000,
    )
    assert open_completion(new).reserved_usd == Decimal("0.4")


@pytest.mark.parametrize("purpose", Purpose)
def test_every_purpose_is_held_back_and_settled(alice, purpose):
    settle_at(open_row(alice, purpose=purpose), "0.5")
    assert Completion.objects.get().purpose == purpose
    assert sums() == everywhere("0.5", 0)


@pytest.mark.parametrize("purpose", Purpose)
def test_no_purpose_is_opened_without_money(alice, purpose):
    limit(alice, money_per_day_usd="0.5")
    with pytest.raises(ReplyTooExpensive):
        open_row(alice, purpose=purpose)
    assert not Completion.objects.exists()


def test_what_nobody_in_particular_asks_for_is_the_sites():
    settle_at(open_row(None, purpose=Purpose.EMBEDDING), "0.5")
    assert sums() == {(None, "day"): (Decimal("0.5"), 0), (None, "month"): (Decimal("0.5"), 0)}


def test_the_words_that_are_sent_are_not_in_the_ledger(alice):
    body = {"model": "letters", "input": ["a secret"]}
    completion = open_completion(NewCompletion(**{**fields_of(asked(alice)), "body": body}))
    assert completion.request == {"model": "letters"}
    assert len(completion.messages_digest) == 64


def fields_of(new):
    return {name: getattr(new, name) for name in NewCompletion.__slots__}


def test_an_estimate_without_a_window_is_counted_too(alice):
    completion = open_row(alice, purpose=Purpose.TITLE)
    settle_completion(completion, Outcome(text="one two three"))
    completion.refresh_from_db()
    assert (completion.output_tokens, completion.usage_estimated) == (3, True)


def test_a_person_who_was_deleted_meanwhile_leaves_the_sites_sums(alice):
    completion = open_row(alice)
    alice.delete()
    settle_at(completion, "0.25")
    assert sums() == {(None, "day"): (Decimal("0.25"), 0), (None, "month"): (Decimal("0.25"), 0)}


def test_it_is_settled_in_the_day_in_which_it_was_begun(alice):
    completion = open_row(alice)
    yesterday = completion.created_at - dt.timedelta(days=40)
    Completion.objects.update(created_at=yesterday)
    Spending.objects.all().delete()
    settle_at(completion, "0.25")
    begins = set(Spending.objects.values_list("period", "begins_on"))
    assert begins == {("day", yesterday.date()), ("month", yesterday.date().replace(day=1))}


# Unknown prices


def test_an_unknown_price_holds_nothing_back_where_nothing_is_limited(alice):
    completion = open_row(alice, prices=None)
    settle_completion(completion, Outcome(usage=Usage(10, 10)))
    completion.refresh_from_db()
    assert (completion.reserved_usd, completion.cost_usd) == (None, None)
    assert set(sums().values()) <= {(0, 0)}


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
        ("person", "day", MoneyUsedUp),
        ("person", "month", MoneyOfMonthUsedUp),
        ("site", "day", SiteMoneyUsedUp),
        ("site", "month", SiteMoneyOfMonthUsedUp),
    ],
)
def test_the_sum_that_refuses_says_so(alice, whose, period, error):
    settle_at(open_row(alice), 1)
    money = {f"money_per_{period}_usd": Decimal("1.5")}
    limit(alice, **money) if whose == "person" else SiteBudget.objects.create(**money)
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
    with pytest.raises(MoneyHeldBack):
        open_row(alice)
    settle_at(running, "0")
    assert open_row(alice)


def test_the_sites_money_can_be_held_back_by_others(alice):
    SiteBudget.objects.create(money_per_day_usd=1)
    open_row(make_user("bob"))
    with pytest.raises(SiteMoneyHeldBack):
        open_row(alice)


def test_what_no_waiting_would_cover_promises_no_time(alice):
    limit(alice, money_per_day_usd=0)
    with pytest.raises(ReplyTooExpensive):
        open_row(alice)


def test_what_costs_nothing_goes_out_though_all_is_spent(alice):
    settle_at(open_row(alice), 3)
    limit(alice, money_per_day_usd=1)
    assert open_row(alice, prices=UnitPrices(Decimal(0), Decimal(0))).reserved_usd == 0


# At the same moment


@pytest.mark.django_db(transaction=True)
def test_of_fifty_at_once_with_money_for_three_three_go_out():
    alice = make_user("alice")
    limit(alice, money_per_day_usd=3)
    outcomes = at_once([lambda: open_row(alice)] * 50)
    assert sorted(map(type, outcomes), key=str).count(Completion) == 3
    assert sum(isinstance(outcome, MoneyHeldBack) for outcome in outcomes) == 47
    assert sums() == everywhere(0, 3)


@pytest.mark.django_db(transaction=True)
def test_opening_and_settling_at_once_adds_up_and_locks_nobody_out():
    people = [make_user(f"person{number}") for number in range(8)]
    running = [open_row(person) for person in people for _ in range(3)]
    settling = [lambda row=row: settle_at(row, "0.25") for row in running]
    opening = [lambda person=person: open_row(person) for person in people for _ in range(3)]
    assert not [outcome for outcome in at_once(settling + opening) if isinstance(outcome, Exception)]
    assert sums()[None, "day"] == (6, 24)
    assert sums()["Person3", "month"] == (Decimal("0.75"), 3)


@pytest.mark.django_db(transaction=True)
def test_deleting_a_person_and_settling_their_request_do_not_block_each_other():
    alice = make_user("alice")
    completion = open_row(alice)
    deleting = threading.Thread(target=in_a_thread(alice.delete))
    with transaction.atomic():
        Completion.objects.select_for_update().get()
        deleting.start()
        wait_until_somebody_waits()
        settle_at(completion, 1)
    deleting.join()
    assert Completion.objects.get().user is None
    assert set(sums()) == {(None, "day"), (None, "month")}


def in_a_thread(do):
    """Return what does it and leaves no connection behind."""

    def deed():
        try:
            do()
        finally:
            connection.close()

    return deed


def wait_until_somebody_waits():
    with connection.cursor() as cursor:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while cursor.execute("SELECT FROM pg_locks WHERE NOT granted").rowcount == 0:
            assert time.monotonic() < deadline
            time.sleep(LOOK_AGAIN_SECONDS)


def at_once(deeds):
    """Do each of *deeds* in a thread of its own; return what each returned or raised."""
    outcomes, barrier = [], threading.Barrier(len(deeds))

    def do(deed):
        barrier.wait()
        try:
            outcomes.append(deed())
        except Exception as error:
            outcomes.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=do, args=[deed]) for deed in deeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes
