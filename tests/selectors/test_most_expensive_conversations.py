"""The most expensive conversations are found without adding up all of them, and are those that adding up finds."""

from __future__ import annotations

import datetime as dt
import random
import uuid
from decimal import Decimal

import pytest
from django.utils import timezone

from conversations.models import Completion, Conversation, Scenario
from conversations.selectors.figures import figures
from conversations.selectors.figures.figures import read_figures
from conversations.selectors.figures.most_expensive_conversations import MOST_LOOKED_UP
from conversations.selectors.figures.period import Period
from conversations.services.ledger.close_days import close_days
from conversations.services.ledger.recompute_ledger_sums import recompute_ledger_sums
from tests.support.people import make_user

pytestmark = pytest.mark.django_db
LAST = dt.date(2026, 11, 20)
NOW = dt.datetime(2026, 11, 20, 12, tzinfo=dt.UTC)
WAYS = [MOST_LOOKED_UP, 0]


@pytest.fixture(params=WAYS, ids=["looked up", "added up"])
def _way(request, monkeypatch):
    """Let all candidates be few, or many."""
    statement = figures.ROLLED_UP_FIGURES
    changed = statement.replace(f"count(*) <= {MOST_LOOKED_UP}", f"count(*) <= {request.param}")
    assert (changed == statement) == (request.param == MOST_LOOKED_UP)
    monkeypatch.setattr(figures, "ROLLED_UP_FIGURES", changed)


def make_conversations(count):
    owner, scenario = make_user("alice"), Scenario.objects.create(name="Any")
    return Conversation.objects.bulk_create(
        Conversation(owner=owner, scenario=scenario, last_active_at=NOW, public_id=uuid.uuid4()) for _ in range(count)
    )


def spent(conversation, at, cost):
    """Return a row of the ledger that has ended; equal costs are frequent, as are unknown ones."""
    return Completion(
        conversation=conversation, language_model="letters", created_at=at, ended_at=timezone.now(), cost_usd=cost,
        estimated_input_tokens=1, input_tokens=1, output_tokens=0, usage_estimated=False,
    )  # fmt: skip


def store(rows):
    Completion.objects.bulk_create(rows)
    recompute_ledger_sums()
    while close_days(now=NOW):
        pass


def last_days(days):
    return Period(LAST - dt.timedelta(days=days - 1), LAST, dt.UTC)


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("seed", range(3))
def test_they_are_those_that_adding_all_of_them_up_finds(seed):
    chance, conversations = random.Random(seed), [None, *make_conversations(30)]
    costs = [None, Decimal(0), Decimal(1), Decimal(2), Decimal(7)]
    store(
        spent(chance.choice(conversations), NOW - chance.random() * dt.timedelta(days=100), chance.choice(costs))
        for _ in range(150)
    )
    for days, rows in ((1, 1), (2, 3), (33, 2), (60, 1), (100, 5), (200, 40)):
        period = last_days(days)
        found, all_added_up = (
            read_figures(period, rows=rows, source=source) for source in (None, "conversations_ledgersum")
        )
        assert found.by_conversation == all_added_up.by_conversation


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("days", [2, 8, 45])
def test_days_that_are_closed_while_figures_are_read_are_not_added_twice(days, monkeypatch):
    """What is read first says that the last two of them are open."""
    chance, conversations = random.Random(days), make_conversations(40)
    store(
        spent(chance.choice(conversations), NOW - chance.random() * dt.timedelta(days=12), Decimal(chance.randrange(9)))
        for _ in range(100)
    )
    earlier = "closed_until - INTERVAL '48 hours' AS closed_until"
    statement = f"SELECT {earlier}, weeks_until FROM ({figures.CLOSED_UNTIL}) AS known"
    monkeypatch.setattr(figures, "CLOSED_UNTIL", statement)
    found, all_added_up = (
        read_figures(last_days(days), rows=4, source=source) for source in (None, "conversations_ledgersum")
    )
    assert found == all_added_up


@pytest.mark.usefixtures("_way")
def test_one_that_cost_most_long_ago_does_not_hide_one_that_cost_most_now():
    *old, new = make_conversations(12)
    long_ago = [spent(each, NOW - dt.timedelta(days=80), Decimal(100)) for each in old]
    lately = [spent(each, NOW - dt.timedelta(days=3), Decimal(1)) for each in old]
    store([*long_ago, *lately, spent(new, NOW - dt.timedelta(days=3), Decimal(2))])
    table = read_figures(last_days(7), rows=1).by_conversation
    assert [row.conversation_id for row in table.rows] == [new.pk]
    assert (table.rest_count, table.rest.cost_usd) == (11, 11)


def test_one_that_was_active_before_and_after_a_period_only_is_not_counted_in_it():
    around, within = make_conversations(2)
    days_ago = [spent(around, NOW - dt.timedelta(days=days), Decimal(1)) for days in (40, 10)]
    store([*days_ago, spent(within, NOW - dt.timedelta(days=20), Decimal(1))])
    first = LAST - dt.timedelta(days=30)
    table = read_figures(Period(first, first + dt.timedelta(days=15), dt.UTC)).by_conversation
    assert [row.conversation_id for row in table.rows] == [within.pk]
    assert table.rest_count == 0
