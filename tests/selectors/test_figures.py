"""Every figure is the ledger's, to the last digit, whatever is in it and by whatever clock."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import replace
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conversations.models import Completion, Conversation
from conversations.models.sums import Sums
from conversations.selectors.figures.figures import Filters, all_rows, read_figures, read_total
from conversations.selectors.figures.period import Period
from conversations.selectors.figures.totals import SUMS, Totals
from conversations.services.ledger.close_days import close_days
from conversations.services.ledger.recompute_ledger_sums import recompute_ledger_sums
from conversations.services.ledger.recompute_rolled_up_sums import recompute_rolled_up_sums
from tests.admin.stored import make_completion, make_conversation, make_person
from tests.support.hypothesis_profile import count_cases

from .random_ledgers import CHANGES, HISTORIES, PERIODS, ZONES, RandomLedger, add_up, day_of, period_around, rows_of

pytestmark = pytest.mark.django_db
TODAY = dt.date(2026, 11, 21)
COLUMNS = {
    "user": "user_id",
    "language_model": "language_model",
    "scenario": "scenario_id",
    "purpose": "purpose",
    "conversation": "conversation_id",
}
PERIOD = Period(TODAY - dt.timedelta(days=4), TODAY, dt.UTC)
NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
random_ledgers = settings(
    max_examples=count_cases(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def grouped(rows, by):
    """Return the sums of the rows with the same value of the column *by*, in which people are not counted."""
    keys = {getattr(row, by) for row in rows}
    return {key: replace(add_up(row for row in rows if getattr(row, by) == key), users=0) for key in keys}


@random_ledgers
@given(HISTORIES, st.sampled_from(CHANGES), st.sampled_from(ZONES), PERIODS)
def test_all_sums_are_the_ledgers(history, around, zone, days):
    RandomLedger(around).happen(history)
    period = period_around(around, zone, days)
    rows = rows_of(period)
    figures = read_figures(period)
    assert figures.total == read_total(period) == add_up(rows)
    for day in figures.by_day:
        assert day.totals == add_up(row for row in rows if day_of(row, period) == day.day)
    for by, column in COLUMNS.items():
        table = getattr(figures, f"by_{by}")
        assert {getattr(row, column): row.totals for row in table.rows} == grouped(rows, column)
        assert (table.rest, table.rest_count) == (Totals(), 0)
        assert list(all_rows(period, by=by)) == list(table.rows)
    assert {each.error_code: each.count for each in figures.failures} == {
        code: totals.completions for code, totals in grouped(rows, "error_code").items() if code
    }


@random_ledgers
@given(HISTORIES, st.sampled_from(CHANGES), st.sampled_from(ZONES), PERIODS, st.integers(1, 2))
def test_the_rows_that_are_shown_and_the_rest_are_the_total(history, around, zone, days, rows):
    RandomLedger(around).happen(history)
    figures = read_figures(period_around(around, zone, days), rows=rows)
    total = figures.total.without([])
    assert total.without(day.totals for day in figures.by_day) == Totals()
    for by in COLUMNS:
        table = getattr(figures, f"by_{by}")
        assert len(table.rows) <= rows
        assert total.without([*(row.totals for row in table.rows), table.rest]) == Totals()


@random_ledgers
@given(HISTORIES, st.sampled_from(CHANGES))
def test_nothing_that_happens_makes_the_sums_differ_from_the_ledger(history, around):
    RandomLedger(around).happen(history)
    assert not recompute_ledger_sums(mend=False)
    assert not recompute_rolled_up_sums(mend=False)


@random_ledgers
@given(HISTORIES, st.sampled_from(CHANGES), st.data())
def test_a_filter_leaves_the_rows_that_have_its_value(history, around, data):
    RandomLedger(around).happen(history)
    period = period_around(around, "UTC")
    filters = Filters(**data.draw(st.sampled_from([value_of(row) for row in rows_of(period)] or [{}])))
    chosen = [row for row in rows_of(period) if all(getattr(row, name) == to for name, to in filters.chosen.items())]
    figures = read_figures(period, filters)
    assert figures.total == add_up(chosen)
    assert sum(each.count for each in figures.failures) == figures.total.failures


def value_of(row):
    """Return each of the values that a filter may have, unless the row has none."""
    names = ("user_id", "language_model", "scenario_id", "purpose", "conversation_id")
    return {name: getattr(row, name) for name in names if getattr(row, name) is not None}


# By example


def test_an_empty_ledger_is_zero_and_not_unknown():
    figures = read_figures(PERIOD)
    assert figures.total == Totals()
    assert [day.totals for day in figures.by_day] == [Totals()] * 5
    assert figures.by_user.rows == ()
    assert figures.total.cache_share is None
    assert figures.total.context_cost_factor is None


def test_a_day_begins_at_midnight_by_the_readers_clock():
    midnight = dt.datetime(2026, 11, 20, 18, 30, tzinfo=dt.UTC)  # of the 21st in Kolkata
    make_completion(make_person("bob"), at=midnight - dt.timedelta(microseconds=1))
    make_completion(make_person("eve"), at=midnight)
    days = read_figures(replace(PERIOD, zone=ZoneInfo("Asia/Kolkata"))).by_day
    assert [day.totals.completions for day in days] == [0, 0, 0, 1, 1]


def test_a_day_that_is_skipped_has_nothing_in_it():
    apia = Period(dt.date(2011, 12, 29), dt.date(2011, 12, 31), ZoneInfo("Pacific/Apia"))
    make_completion(make_person("bob"), at=dt.datetime(2011, 12, 30, 9, 59, tzinfo=dt.UTC))
    make_completion(make_person("eve"), at=dt.datetime(2011, 12, 30, 10, 0, tzinfo=dt.UTC))
    assert [day.totals.completions for day in read_figures(apia).by_day] == [1, 0, 1]


def test_people_are_counted_once_in_a_day_and_once_in_all():
    alice, bob = make_person("alice"), make_person("bob")
    for user, days_ago in ((alice, 0), (alice, 0), (alice, 1), (bob, 1), (None, 1)):
        make_completion(user, at=NOON - dt.timedelta(days=days_ago))
    figures = read_figures(PERIOD)
    assert figures.total.users == 2
    assert [day.totals.users for day in figures.by_day] == [0, 0, 0, 2, 1]


def test_people_are_counted_in_a_closed_day_of_25_hours():
    longest = Period(dt.date(2026, 11, 1), dt.date(2026, 11, 1), ZoneInfo("America/Havana"))
    make_completion(make_person("alice"), at=longest.begin)
    make_completion(make_person("bob"), at=longest.end - dt.timedelta(minutes=1))
    make_completion(make_person("charlie"), at=longest.begin - dt.timedelta(minutes=1))
    close_days(now=NOON)
    assert read_figures(longest).by_day[0].totals.users == read_total(longest).users == 2


@pytest.mark.parametrize("days", [1, 20, 30, 40, 70])
def test_only_what_lies_within_the_period_is_read_of_closed_days(days):
    period = Period(dt.date(2026, 6, 30), dt.date(2026, 6, 29) + dt.timedelta(days=days), ZoneInfo("Asia/Kolkata"))
    alice = make_person("alice")
    for at in (period.begin - dt.timedelta(days=40), period.begin, period.end, period.end + dt.timedelta(days=40)):
        for minutes in (-1, 1, 800):
            make_completion(alice, at=at + dt.timedelta(minutes=minutes))
    while close_days(now=NOON):
        pass
    figures = read_figures(period)
    assert figures.total == read_total(period)
    assert figures.total.completions == 3
    for by in COLUMNS:
        assert [row.totals.completions for row in getattr(figures, f"by_{by}").rows] == [3]


@pytest.mark.parametrize("seed", range(4))
def test_a_busy_site_has_the_figures_that_adding_all_of_it_up_finds(seed):
    chance, people = random.Random(seed), [None, *map(make_person, ("alice", "bob", "charlie", "dora"))]
    for _ in range(200):
        person = chance.choice(people)
        at = NOON - chance.random() * dt.timedelta(days=120)
        make_completion(person, at=at, cost_usd=Decimal(chance.randrange(4)), language_model=chance.choice("ab"))
    while close_days(now=NOON):
        pass
    chance.choice(people[1:]).delete()
    for _ in range(40):
        length, zone = chance.choice((7, 14, 30, 31, 45, 90)), ZoneInfo(chance.choice(ZONES))
        last = TODAY - dt.timedelta(days=chance.choice((0, 0, 1, 30, 75)))
        period = Period(last - dt.timedelta(days=length - 1), last, zone)
        rolled_up, added_up = (
            read_figures(period, rows=3, source=source) for source in (None, "conversations_ledgersum")
        )
        assert rolled_up == added_up
        assert read_total(period) == added_up.total


def test_the_most_expensive_come_first_and_have_their_names():
    for name, cost in (("alice", 1), ("bob", 3), ("charlie", 2)):
        make_completion(make_person(name), at=NOON, cost_usd=Decimal(cost))
    by_user = read_figures(PERIOD, rows=2).by_user
    assert [row.email for row in by_user.rows] == ["bob@example.org", "charlie@example.org"]
    assert (by_user.rest.cost_usd, by_user.rest_count) == (1, 1)


def test_a_conversation_has_its_owner_and_no_title():
    alice = make_person("alice")
    conversation = make_conversation(alice, title="A secret")
    Completion.objects.update(created_at=NOON)
    recompute_ledger_sums()
    (row,) = read_figures(PERIOD).by_conversation.rows
    assert (row.conversation_id, row.public_id, row.owner_email) == (
        conversation.pk,
        conversation.public_id,
        "alice@example.org",
    )
    assert "secret" not in repr(row)


def test_the_amounts_stay_when_the_person_and_the_conversation_are_gone():
    alice = make_person("alice")
    make_conversation(alice)
    make_completion(None, at=NOON)
    Completion.objects.update(created_at=NOON)
    recompute_ledger_sums()
    alice.delete()
    assert not Conversation.objects.exists()
    figures = read_figures(PERIOD)
    for row in (*figures.by_user.rows, *figures.by_conversation.rows):
        assert row.totals.cost_usd == Decimal("0.0025")
    assert [(row.user_id, row.email) for row in figures.by_user.rows] == [(None, None)]


def test_the_number_of_queries_does_not_depend_on_what_is_there():
    def queries():
        with CaptureQueriesContext(connection) as taken:
            read_figures(PERIOD)
        return len(taken)

    empty = queries()
    for number in range(15):
        make_conversation(make_person(f"person{number}"))
    Completion.objects.update(created_at=NOON)
    recompute_ledger_sums()
    assert read_figures(PERIOD).total.users == 15
    assert queries() == empty == 3


def test_shares_and_factors_are_of_what_they_say():
    totals = Totals(
        input_tokens=900,
        cached_input_tokens=100,
        cache_reported_input_tokens=400,
        cost_with_history_usd=Decimal(3),
        cost_without_history_usd=Decimal(2),
        reported_input_tokens=200,
        estimate_error_tokens=10,
    )
    assert (totals.cache_share, totals.estimate_error_share) == (0.25, 0.05)
    assert (totals.context_cost_factor, totals.context_cost_usd) == (1.5, 1)


def test_all_sums_of_the_table_are_read():
    """A column of sums that is forgotten would be 0 in every figure."""
    assert set(SUMS) == {field.name for field in Sums._meta.fields}


@pytest.mark.parametrize(
    ("first", "filters", "mode"),
    [
        (TODAY - dt.timedelta(days=1), Filters(), "force_generic_plan"),
        (TODAY, Filters(), "auto"),
        (TODAY - dt.timedelta(days=1), Filters(language_model="a"), "auto"),
    ],
    ids=["days", "a single day", "with a filter"],
)
@pytest.mark.parametrize("read", [read_figures, read_total])
def test_what_reads_closed_days_is_planned_once_for_periods_of_days(read, first, filters, mode):
    read(Period(first, TODAY, dt.UTC), filters)
    with connection.cursor() as cursor:
        assert cursor.execute("SHOW plan_cache_mode").fetchone() == (mode,)
