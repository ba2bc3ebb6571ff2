"""Users are counted and ranked from closed days without reading the sums of all, and as adding all of them up does."""

from __future__ import annotations

import datetime as dt
import random
import uuid
from decimal import Decimal

import pytest
from django.db import connection

from chatsite.accounts.models import User
from conversations.models import ActiveUsers, Completion, Conversation, ConversationsOfDay
from conversations.selectors.figures import figures
from conversations.selectors.figures.active_users import OPEN_USERS_NAMED
from conversations.selectors.figures.figures import read_figures, read_total
from conversations.selectors.figures.period import Period
from conversations.services.ledger import anonymize_ledger
from conversations.services.ledger import close_days as closing
from conversations.services.ledger.activity_sums import MOST_EXPENSIVE
from conversations.services.ledger.close_days import close_days
from conversations.services.ledger.recompute_ledger_sums import recompute_ledger_sums
from conversations.services.ledger.recompute_rolled_up_sums import recompute_rolled_up_sums
from tests.admin.stored import make_scenario

pytestmark = pytest.mark.django_db
LAST = dt.date(2026, 11, 20)
NOW = dt.datetime(2026, 11, 20, 12, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)
FEW = 3
PERIODS = [(1, 0), (2, 1), (9, 0), (20, 3), (33, 0), (60, 9), (100, 0)]  # days, and how many days ago the last one is
NAMED = "place <= {}", "place > {}", "LIMIT {} + 1", "place = {} + 1"


@pytest.fixture
def _few_are_named(monkeypatch):
    """Let each part of a period name only three users, so that there are others whose costs are not read."""

    def named_few(statement, number):
        for text in NAMED:
            statement = statement.replace(text.format(number), text.format(FEW))
        return statement

    statement = named_few(figures.ROLLED_UP_FIGURES, OPEN_USERS_NAMED)
    assert statement != figures.ROLLED_UP_FIGURES
    monkeypatch.setattr(figures, "ROLLED_UP_FIGURES", statement)
    fill = tuple(named_few(each, MOST_EXPENSIVE) for each in closing.FILL)
    assert fill != closing.FILL
    monkeypatch.setattr(closing, "FILL", fill)


def store(spent, *, people, conversations=None, until=NOW):
    """Store completions as (number of its user, how many days ago, cost, tokens); close all days that are over."""
    Completion.objects.bulk_create(
        Completion(
            user=people[number], conversation=conversations[number] if conversations else None,
            language_model="letters", created_at=NOW - days * DAY,
            ended_at=NOW, cost_usd=cost, estimated_input_tokens=1, input_tokens=tokens, output_tokens=0,
            usage_estimated=False,
        )
        for number, days, cost, tokens in spent
    )  # fmt: skip
    recompute_ledger_sums()
    while close_days(now=until):
        pass


def make_people(count):
    return [None, *User.objects.bulk_create(User(email=f"person{number}@example.org") for number in range(count))]


def check_all_periods():
    for length, ago in PERIODS:
        last = LAST - ago * DAY
        period = Period(last - (length - 1) * DAY, last, dt.UTC)
        for rows in (1, 2, 7, 50):
            found, added_up = (
                read_figures(period, rows=rows, source=source) for source in (None, "conversations_ledgersum")
            )
            assert found.by_user == added_up.by_user
            assert found.by_conversation == added_up.by_conversation
            assert found.total == read_total(period) == added_up.total
    assert not recompute_rolled_up_sums(mend=False)


def random_spending(chance, people, *, count, costs, skewed):
    for _ in range(count):
        number = int(people * chance.random() ** (3 if skewed else 1))
        yield number, chance.random() * 90, chance.choice(costs), chance.randrange(4)


@pytest.mark.usefixtures("_few_are_named")
@pytest.mark.parametrize("skewed", [True, False], ids=["a few cost most", "all cost about as much"])
@pytest.mark.parametrize("costs", [[None], [Decimal(1)], [None, Decimal(0), Decimal(1), Decimal(5)]])
def test_they_are_those_that_adding_all_of_them_up_finds(costs, skewed):
    chance, people = random.Random(len(costs)), make_people(20)
    store(random_spending(chance, 20, count=250, costs=costs, skewed=skewed), people=people)
    check_all_periods()
    for person in chance.sample(people[1:], 4):
        person.delete()
        check_all_periods()


@pytest.mark.usefixtures("_few_are_named")
def test_who_is_not_among_the_first_of_any_day_has_a_place_if_all_days_together_are_more():
    people = make_people(12)
    first_of_a_day = [(1 + (day * FEW + place) % 11, day, Decimal(10), 1) for day in range(3) for place in range(FEW)]
    always_next = [(12, day, Decimal(9), 1) for day in range(3)]
    store([*first_of_a_day, *always_next], people=people)
    (row,) = read_figures(Period(LAST - 2 * DAY, LAST, dt.UTC), rows=1).by_user.rows
    assert (row.user_id, row.totals.cost_usd) == (people[12].pk, 27)


@pytest.fixture
def _deletes_as_the_version_before(monkeypatch):
    """Let a deletion know the sums alone, and none of what says who was active and how many."""
    for name in ("FORGET_ACTIVE_USER", "FORGET_CONVERSATION_OF_DAY"):
        monkeypatch.setattr(anonymize_ledger, name, "SELECT 1")


@pytest.mark.usefixtures("_deletes_as_the_version_before")
def test_what_the_version_before_has_deleted_is_counted_no_more():
    people = make_people(3)
    conversations = [None, *(Conversation.objects.create(**conversation_of(each)) for each in people[1:])]
    store(
        [(1, 5, Decimal(1), 1), (2, 9, Decimal(1), 1), (3, 9, Decimal(2), 1), (0, 7, Decimal(3), 1)],
        people=people,
        conversations=conversations,
    )
    check_all_periods()
    people[2].delete()
    conversations[3].delete()
    check_all_periods()
    assert close_days(now=NOW + DAY)
    check_all_periods()
    assert not ActiveUsers.objects.filter(anonymous_completions__gt=2).exists()


def conversation_of(owner):
    return {"owner": owner, "scenario": make_scenario(), "last_active_at": NOW, "public_id": uuid.uuid4()}


@pytest.mark.parametrize("table", [ActiveUsers, ConversationsOfDay])
def test_days_that_the_version_before_has_closed_are_filled_in_with_the_next(table):
    people = make_people(2)
    store([(1, 5, Decimal(1), 1), (2, 9, Decimal(1), 1)], people=people)
    table.objects.all().delete()
    check_all_periods()
    assert close_days(now=NOW + DAY)
    assert table.objects.exists()
    check_all_periods()


@pytest.mark.parametrize("seed", range(3))
def test_conversations_that_go_on_and_are_deleted_are_counted_as_adding_all_up_does(seed):
    chance, people = random.Random(seed), make_people(4)
    conversations = [None, *(Conversation.objects.create(**conversation_of(people[1])) for _ in range(4))]
    for part in range(3):  # days are closed between
        days = [90 - 30 * part - 30 * chance.random() for _ in range(12)]
        store(
            [(chance.randrange(5), ago, Decimal(1), 1) for ago in days],
            people=[None, *people[1:]],
            conversations=conversations,
            until=NOW - (60 - 30 * part) * DAY,
        )
        check_all_periods()
    for conversation in conversations[1:3]:
        conversation.delete()
        check_all_periods()


@pytest.mark.parametrize("column", ["users", "most_expensive"])
def test_what_was_changed_by_hand_is_found_and_mended(column):
    people = make_people(60)
    store([(number, 5, Decimal(number), 1) for number in range(1, 61)], people=people)
    changed = {"users": "B'0000001'", "most_expensive": "'{}'"}[column]
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE conversations_activeusers SET {column} = {changed}")
    assert recompute_rolled_up_sums(mend=False)
    assert recompute_rolled_up_sums()
    check_all_periods()


def test_a_count_of_conversations_that_was_changed_by_hand_is_found_and_mended():
    people = make_people(1)
    store([(1, 5, Decimal(1), 1)], people=people)
    ConversationsOfDay.objects.update(began=7)
    assert recompute_rolled_up_sums(mend=False)
    assert recompute_rolled_up_sums()
    check_all_periods()
