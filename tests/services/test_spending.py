"""Money held back before a request leaves, and given back when it has ended."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from django.db import transaction

from conversations.core.errors import MoneyReserved, ReplyTooExpensive
from conversations.core.money.unit_prices import UnitPrices
from conversations.core.money.usage import Usage
from conversations.models import Completion, Spending
from conversations.models.completion import Purpose
from conversations.services.ledger.ledger import NewCompletion, Outcome, open_completion, settle_completion
from tests.accounts.browsers import Browsers
from tests.services.spending import asked, everywhere, limit, open_row, settle_at, sums
from tests.support.concurrent_users import at_once
from tests.support.people import make_user
from tests.support.waiting import wait_for_lock_waits

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(db):
    return make_user("alice")


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


def test_what_no_one_in_particular_asks_for_is_the_sites():
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


def test_an_unknown_price_holds_nothing_back_where_nothing_is_limited(alice):
    completion = open_row(alice, prices=None)
    settle_completion(completion, Outcome(usage=Usage(10, 10)))
    completion.refresh_from_db()
    assert (completion.reserved_usd, completion.cost_usd) == (None, None)
    assert set(sums().values()) <= {(0, 0)}


# At the same moment


@pytest.mark.django_db(transaction=True)
def test_of_fifty_at_once_with_money_for_three_three_go_out():
    alice = make_user("alice")
    limit(alice, money_per_day_usd=3)
    outcomes = at_once(lambda _: open_row(alice), range(50), refused_by=MoneyReserved)
    assert [type(outcome) for outcome in outcomes].count(Completion) == 3
    assert sums() == everywhere(0, 3)


@pytest.mark.django_db(transaction=True)
def test_opening_and_settling_at_once_adds_up_and_locks_no_one_out():
    people = [make_user(f"person{number}") for number in range(8)]
    running = [open_row(person) for person in people for _ in range(3)]
    settling = [lambda row=row: settle_at(row, "0.25") for row in running]
    opening = [lambda person=person: open_row(person) for person in people for _ in range(3)]
    at_once(lambda do: do(), settling + opening)
    assert sums()[None, "day"] == (6, 24)
    assert sums()["Person3", "month"] == (Decimal("0.75"), 3)


@pytest.mark.django_db(transaction=True)
def test_deleting_a_person_and_settling_their_request_do_not_block_each_other():
    alice = make_user("alice")
    completion = open_row(alice)
    with Browsers() as others:
        with transaction.atomic():
            Completion.objects.select_for_update().get()
            deleting = others.start(alice.delete)
            wait_for_lock_waits()
            settle_at(completion, 1)
        deleting.result()
    assert Completion.objects.get().user is None
    assert set(sums()) == {(None, "day"), (None, "month")}
