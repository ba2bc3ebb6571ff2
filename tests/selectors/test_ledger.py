"""The ledger's sums are the sums of its rows, whatever is in it."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterable
from decimal import Decimal

import pytest
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.models import Completion, Conversation
from conversations.models.completion import Purpose
from conversations.selectors import ledger
from conversations.selectors.ledger import Totals
from tests.admin.stored import make_completion, make_conversation, make_person

NOW = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
LANGUAGE_MODELS = ["cheap", "dear", "unpriced"]
ERRORS = ["", "", "", "", "provider_timed_out", "quota_exhausted"]


def add_random_completion(chance: random.Random, people: list[User | None]) -> None:
    input_tokens = chance.randrange(5_000)
    language_model = chance.choice(LANGUAGE_MODELS)
    has_ended = chance.random() < 0.9
    is_priced = has_ended and language_model != "unpriced"
    make_completion(
        chance.choice(people),
        at=NOW - dt.timedelta(seconds=chance.randrange(10 * 86_400)),
        language_model=language_model,
        purpose=chance.choice(Purpose.values),
        attempt=chance.choice([1, 1, 2]),
        input_tokens=input_tokens if has_ended else None,
        cached_input_tokens=chance.randrange(input_tokens + 1) if has_ended else None,
        output_tokens=chance.randrange(900) if has_ended else None,
        cost_usd=Decimal(chance.randrange(10**9)) / 10**10 if is_priced else None,
        error_code=chance.choice(ERRORS) if has_ended else "",
        ended_at=NOW if has_ended else None,
    )


def add_up(rows: Iterable[Completion]) -> Totals:
    """Sum in Python what the selectors sum in PostgreSQL."""
    rows = list(rows)
    return Totals(
        completions=len(rows),
        replies=sum(row.purpose == "reply" and row.attempt == 1 for row in rows),
        users=len({row.user_id for row in rows if row.user_id}),
        failures=sum(row.error_code != "" for row in rows),
        input_tokens=sum(row.input_tokens or 0 for row in rows),
        cached_input_tokens=sum(row.cached_input_tokens or 0 for row in rows),
        output_tokens=sum(row.output_tokens or 0 for row in rows),
        cost_usd=sum((row.cost_usd or Decimal(0) for row in rows), Decimal(0)),
        unknown_costs=sum(row.ended_at is not None and row.cost_usd is None for row in rows),
    )


@pytest.fixture(params=[1, 2, 3])
def rows(request, db) -> list[Completion]:
    chance = random.Random(request.param)
    people = [None, *(make_person(f"person{number}") for number in range(5))]
    for _ in range(120):
        add_random_completion(chance, people)
    return list(Completion.objects.all())


def test_the_totals_are_the_sums_of_the_rows(rows):
    since = NOW - dt.timedelta(days=3)
    assert ledger.totals_since(since) == add_up(row for row in rows if row.created_at >= since)


def test_the_days_are_the_sums_of_their_rows(rows):
    days = ledger.totals_by_day(NOW.date() - dt.timedelta(days=4), NOW.date())
    assert len(days) == 5
    for day in days:
        assert day.totals == add_up(row for row in rows if row.created_at.date() == day.day)


def test_the_users_are_the_sums_of_their_rows(rows):
    users = ledger.totals_by_user(NOW - dt.timedelta(days=20), limit=10)
    assert len(users) == 6
    for user in users:
        assert user.totals == add_up(row for row in rows if row.user_id == user.user_id)


def test_the_language_models_are_the_sums_of_their_rows(rows):
    models = ledger.totals_by_language_model(NOW - dt.timedelta(days=20), limit=10)
    assert {model.language_model for model in models} == set(LANGUAGE_MODELS)
    for model in models:
        assert model.totals == add_up(row for row in rows if row.language_model == model.language_model)


def test_the_dearest_come_first_and_no_more_than_asked_for(rows):
    costs = [user.totals.cost_usd for user in ledger.totals_by_user(NOW - dt.timedelta(days=20), limit=3)]
    assert len(costs) == 3
    assert costs == sorted(costs, reverse=True)


def test_the_failures_are_counted_by_class(rows):
    failures = ledger.failures_by_code(NOW - dt.timedelta(days=20), limit=10)
    assert {failure.error_code: failure.count for failure in failures} == {
        code: sum(row.error_code == code for row in rows) for code in set(ERRORS) - {""}
    }


def test_an_empty_ledger_is_zero_and_not_unknown(db):
    assert ledger.totals_since(NOW) == Totals()
    assert [day.totals for day in ledger.totals_by_day(NOW.date(), NOW.date())] == [Totals()]


def test_a_day_begins_at_midnight_in_utc(db, settings):
    settings.TIME_ZONE = "Pacific/Auckland"
    midnight = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)
    make_completion(make_person("bob"), at=midnight - dt.timedelta(microseconds=1))
    make_completion(make_person("eve"), at=midnight)
    days = ledger.totals_by_day(dt.date(2026, 11, 20), dt.date(2026, 11, 21))
    assert [day.totals.completions for day in days] == [1, 1]


def test_the_amounts_stay_when_the_person_and_the_conversation_are_gone(db):
    alice = make_person("alice")
    make_conversation(alice)
    alice.delete()
    (gone,) = ledger.totals_by_user(timezone.now() - dt.timedelta(days=1), limit=5)
    assert (gone.user_id, gone.email) == (None, None)
    assert gone.totals.cost_usd == Decimal("0.00125")


def test_a_row_is_annotated_with_its_own_part_only(db):
    alice, bob = make_person("alice"), make_person("bob")
    mine = make_conversation(alice, turns=2)
    make_completion(alice, reply=mine.head, cost_usd=None)
    make_conversation(bob)
    annotated = ledger.with_usage(Conversation.objects.all(), of="conversation").get(pk=mine.pk)
    assert (annotated.input_tokens, annotated.output_tokens) == (309, 21)
    assert (annotated.cost_usd, annotated.unknown_costs) == (Decimal("0.0025"), 1)


def test_a_row_with_unknown_costs_only_has_no_cost(db):
    alice = make_person("alice")
    make_completion(alice, cost_usd=None)
    annotated = ledger.with_usage(User.objects.all(), of="user").get(pk=alice.pk)
    assert (annotated.cost_usd, annotated.unknown_costs) == (None, 1)
