"""The site's sums in parts: no limit is passed, none is refused what fits, whatever happens at the same moment."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from decimal import Decimal
from threading import Event

import pytest
from django.db import connection, transaction
from django.db.models import Sum
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatsite.accounts.models import SiteBudget
from conversations.core.errors import AccessError
from conversations.models import Completion, Spending
from conversations.selectors.figures.spending import money_limits
from conversations.services.ledger.recompute_spending import recompute_spending
from conversations.services.ledger.reservations import Amount, reserve
from conversations.services.ledger.spending_sums import PARTS
from tests.accounts.browsers import Browsers
from tests.services.spending import open_row, settle_at, sums
from tests.support.concurrent_users import at_once
from tests.support.hypothesis_profile import count_cases
from tests.support.patience import wait_for
from tests.support.people import make_user
from tests.support.waiting import wait_for_lock_waits

pytestmark = pytest.mark.django_db


def give_budget(day_usd, month_usd=None):
    SiteBudget.objects.update_or_create(defaults={"money_per_day_usd": day_usd, "money_per_month_usd": month_usd})


def used_today():
    rows = Spending.objects.filter(user=None, period="day").aggregate(Sum("spent_usd"), Sum("reserved_usd"))
    return sum(value or Decimal(0) for value in rows.values())


def parts(period="day"):
    return list(Spending.objects.filter(user=None, period=period).order_by("part"))


def is_opened(user, worst_usd=1):
    try:
        return open_row(user, worst_usd=Decimal(worst_usd))
    except AccessError:
        return None


def check_what_is_free():
    """Free of all parts + spent + reserved ≤ the limit, of each sum of which anything is free."""
    for period in ("day", "month"):
        free = [row.free_usd for row in parts(period) if row.limit_usd is not None and row.free_usd is not None]
        if free:
            [limit_usd] = {row.limit_usd for row in parts(period)}
            used = sum(row.spent_usd + row.reserved_usd for row in parts(period))
            assert len(free) == PARTS
            assert min(free) >= 0
            assert sum(free) + used <= limit_usd


# One after the other


def test_the_first_request_deals_what_is_left_and_later_ones_take_it_from_one_part():
    give_budget(1_001)
    open_row(None)
    assert {row.free_usd for row in parts()} == {Decimal(1_000) / PARTS}
    before = parts()
    open_row(None)
    changed = [(old, new) for old, new in zip(before, parts(), strict=True) if old.reserved_usd != new.reserved_usd]
    [(old, new)] = changed
    assert (new.reserved_usd - old.reserved_usd, new.free_usd - old.free_usd) == (1, -1)


def test_what_no_part_has_is_found_in_all_of_them_together():
    give_budget(PARTS)
    open_row(None)
    assert open_row(None, worst_usd=Decimal(PARTS - 1))
    assert not is_opened(None, "0.000001")


def test_a_lowered_limit_is_not_passed_by_what_is_given_back():
    give_budget(10)
    running = [open_row(None) for _ in range(10)]
    give_budget(5)
    assert not is_opened(None)
    for row in running[:5]:
        settle_at(row, 0)
    assert not is_opened(None)
    settle_at(running[5], 0)
    assert is_opened(None)
    assert used_today() == 5


def test_a_limit_that_was_away_for_a_while_counts_what_was_reserved_meanwhile():
    give_budget(100)
    open_row(None)
    give_budget(None)
    for _ in range(99):
        open_row(None)
    give_budget(100)
    assert not is_opened(None)


def test_what_costs_more_than_it_had_reserved_is_taken_from_all():
    give_budget(100)
    settle_at(open_row(None), 99)
    assert {row.free_usd for row in parts()} == {None}
    assert is_opened(None)
    assert not is_opened(None)


def test_without_a_limit_nothing_is_dealt():
    for _ in range(20):
        open_row(None)
    assert {row.limit_usd for row in parts()} == {None}
    assert sums()[None, "day"] == (0, 20)


def test_a_day_without_room_leaves_the_month_as_it_is():
    give_budget(1, 100)
    open_row(None)
    assert not is_opened(None)
    assert sums() == {(None, "day"): (0, 1), (None, "month"): (0, 1)}


def test_what_moves_to_another_day_is_given_back_where_all_is_used_up():
    give_budget(2)
    now = dt.datetime.now(dt.UTC)
    yesterday = now - dt.timedelta(days=40)
    with transaction.atomic():
        reserve([Amount(None, yesterday, Decimal(2))], money_limits(None))
    with transaction.atomic():
        reserve([Amount(None, yesterday, Decimal(-2)), Amount(None, now, Decimal(2))], money_limits(None))
    by_day = Spending.objects.filter(period="day").values_list("begins_on").annotate(Sum("reserved_usd"))
    assert dict(by_day) == {yesterday.date(): 0, now.date(): 2}


def test_what_moves_within_a_month_above_its_limit_leaves_nothing_free_there():
    first, second = (dt.datetime(2026, 3, day, tzinfo=dt.UTC) for day in (10, 11))
    give_budget(None, 10)
    with transaction.atomic():
        reserve([Amount(None, first, Decimal(10))], money_limits(None))
    give_budget(100, 5)
    with transaction.atomic():
        reserve([Amount(None, first, Decimal(-10)), Amount(None, second, Decimal(10))], money_limits(None))
    assert {(row.limit_usd, row.free_usd) for row in parts("month")} == {(5, None)}


def test_mended_sums_are_dealt_again():
    give_budget(100)
    open_row(None)
    Spending.objects.filter(user=None, period="day").update(spent_usd=0, reserved_usd=0, free_usd=100)
    assert recompute_spending()
    assert used_today() == 1
    assert is_opened(None, 99)
    assert not is_opened(None)


OPEN = st.tuples(st.just("open"), st.sampled_from(["0", "0.01", "0.5", "1", "3", "7"]))
SETTLE = st.tuples(st.just("settle"), st.integers(0, 99), st.sampled_from(["0", "0.3", "1", "1", "1.5"]))
LIMIT = st.tuples(st.just("limit"), st.none() | st.integers(0, 30), st.none() | st.integers(0, 30))
MEND = st.tuples(st.just("mend"))


class Model:
    """The site's money as two numbers, beside the product's sums in parts."""

    def __init__(self):
        self.limits = (None, None)
        self.used = Decimal(0)
        self.running = []

    def open(self, worst_usd):
        fits = all(limit is None or self.used + Decimal(worst_usd) <= limit for limit in self.limits)
        row = is_opened(None, worst_usd)
        assert bool(row) == (fits or not Decimal(worst_usd))
        if row:
            self.used += row.reserved_usd
            self.running.append(row)

    def settle(self, number, share):
        if self.running:
            row = self.running.pop(number % len(self.running))
            cost = row.reserved_usd * Decimal(share)
            settle_at(row, cost)
            self.used += cost - row.reserved_usd

    def limit(self, day_usd, month_usd):
        self.limits = (day_usd, month_usd)
        give_budget(day_usd, month_usd)

    def mend(self):
        assert not recompute_spending()


@settings(max_examples=count_cases(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 1000),
    limits=LIMIT,
    history=st.lists(st.one_of(OPEN, OPEN, OPEN, SETTLE, SETTLE, LIMIT, MEND), max_size=40),
)
def test_whatever_happens_what_fits_is_covered_and_nothing_else(seed, limits, history):
    Completion.objects.all().delete()
    Spending.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute("SELECT setseed(%s::float8 / 1000)", [seed])  # which part is taken is by chance
    model = Model()
    for what, *how in [limits, *history]:
        getattr(model, what)(*how)
        assert used_today() == model.used
        check_what_is_free()
    assert not recompute_spending(mend=False)


# At the same moment


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("budget_usd", [5, 23, 40])
def test_of_sixty_at_once_as_many_go_out_as_the_site_has_money_for(budget_usd):
    give_budget(budget_usd)
    opened = at_once(lambda _: is_opened(None), range(60))
    assert len(list(filter(None, opened))) == budget_usd == used_today()
    check_what_is_free()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seed", range(3))
def test_requests_of_any_size_that_are_settled_meanwhile_use_up_all_that_fits(seed):
    """What is used only grows here, so what was refused would still not fit at the end."""
    budget_usd = 60
    give_budget(budget_usd)
    people = [make_user(f"person{number}") for number in range(16)]

    def ask(person):
        chance, refused = random.Random(f"{seed} {person.pk}"), []
        for _ in range(12):
            worst_usd = Decimal(chance.choice(["0.05", "0.2", "0.5", "1", "2"]))
            if row := is_opened(person, worst_usd):
                settle_at(row, worst_usd)
            else:
                refused.append(worst_usd)
        return refused

    refused = [worst_usd for each in at_once(ask, people) for worst_usd in each]
    assert used_today() <= budget_usd
    assert refused
    assert used_today() + min(refused) > budget_usd
    assert not recompute_spending(mend=False)
    check_what_is_free()


@pytest.mark.django_db(transaction=True)
def test_what_always_fits_is_never_refused_and_never_too_much_while_all_is_given_back_again():
    people = [make_user(f"person{number}") for number in range(16)]
    give_budget(len(people))
    over, seen = Event(), Counter()

    def watch():
        while not over.is_set():
            seen[used_today() <= len(people)] += 1  # one statement, so what was stored at one moment
        connection.close()

    def ask(person):
        for _ in range(25):
            settle_at(open_row(person), 0)

    with Browsers() as watcher:
        watching = watcher.start(watch)
        try:
            at_once(ask, people)
        finally:
            over.set()
        watching.result()
    assert seen[True]
    assert not seen[False]
    assert used_today() == 0
    check_what_is_free()


@pytest.mark.django_db(transaction=True)
def test_a_limit_that_changes_and_excesses_at_the_same_moment_lock_no_one_out():
    people = [make_user(f"person{number}") for number in range(12)]

    def ask(person):
        chance = random.Random(person.pk)
        for _ in range(12):
            if row := is_opened(person):
                settle_at(row, chance.choice(["0", "1", "1.5"]))

    def change_limit(_):
        for limit_usd in (1_000, None, 50, None, 2_000, 100) * 2:
            give_budget(limit_usd)

    asking = [lambda person=person: ask(person) for person in people]
    give_budget(100)
    at_once(lambda do: do(), [*asking, lambda: change_limit(None)])
    assert not recompute_spending(mend=False)
    check_what_is_free()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("free_usd", [None, "0.5"])
def test_a_part_that_is_changed_between_the_look_and_the_lock_makes_the_request_look_at_all(free_usd):
    give_budget(100)
    settle_at(open_row(None), 0)
    open_while(lambda: Spending.objects.filter(user=None, period="day").update(free_usd=free_usd))
    assert used_today() == 1
    assert {row.free_usd for row in parts()} == {Decimal(99) / PARTS}


@pytest.mark.django_db(transaction=True)
def test_a_limit_that_is_set_between_the_look_and_the_lock_makes_the_request_look_at_all():
    give_budget(100)
    settle_at(open_row(None), 0)
    give_budget(None)
    settle_at(open_row(None), 0)
    open_while(lambda: Spending.objects.filter(user=None).update(limit_usd=100, free_usd=6))
    assert {(row.limit_usd, row.free_usd) for row in parts()} == {(None, None)}
    assert used_today() == 1


def open_while(change):
    """Let a request see the parts as they were, and lock one only when *change* is stored."""
    with Browsers() as others:
        with transaction.atomic():
            change()
            opening = others.start(lambda: open_row(None))
            wait_for_lock_waits()
        assert opening.result()
    assert Completion.objects.filter(ended_at=None).count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("budget_usd", [None, 1_000])
def test_one_that_is_not_yet_stored_holds_up_no_more_than_its_part(budget_usd):
    give_budget(budget_usd)
    settle_at(open_row(None), 0)
    with Browsers() as others:
        with transaction.atomic():
            open_row(None)
            opening = [others.start(lambda: open_row(None)) for _ in range(10)]
            wait_for(lambda: sum(each.done() for each in opening) >= 5, "most of them are stored")
        assert all(each.result() for each in opening)
    assert used_today() == 11
