"""A day whose sums are rolled up is one to which nothing can be added; deletions change what it says of whom."""

from __future__ import annotations

import datetime as dt

import pytest
from django.db import transaction
from django.utils import timezone

from conversations.models import ActiveUsers, Completion, ConversationSum, RolledUpSum, RunningSum, Scenario
from conversations.runs.reaper import tidy_once
from conversations.services.ledger.anonymize_ledger import wait_for_other_deletions
from conversations.services.ledger.close_days import close_days
from conversations.services.ledger.recompute_ledger_sums import recompute_ledger_sums
from conversations.services.ledger.recompute_rolled_up_sums import recompute_rolled_up_sums
from tests.accounts.browsers import Browsers
from tests.services.spending import open_row, settle_at
from tests.support.people import begin, make_user
from tests.support.waiting import wait_for_lock_waits

pytestmark = pytest.mark.django_db
MIDNIGHT = dt.datetime(2026, 10, 31, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)
NOW = MIDNIGHT + 3 * DAY + dt.timedelta(hours=1)
HOUR = dt.timedelta(hours=1)


def open_at(at, user=None, **fields):
    completion = open_row(user, **fields)
    Completion.objects.filter(pk=completion.pk).update(created_at=at)
    return completion


def spend_at(at, user=None, **fields):
    settle_at(open_at(at, user, **fields), "0.25")


def closed_until():
    return RunningSum.objects.latest("quarter").quarter + dt.timedelta(minutes=15)


def rolled_up(dimension, span="month"):
    rows = RolledUpSum.objects.filter(dimension=dimension, span=span).order_by("begins_at", "key_id", "key_name")
    return list(rows.values_list("begins_at", "key_id", "completions"))


def all_of_conversations():
    rows = ConversationSum.objects.order_by("key_id")
    return list(rows.values_list("key_id", "completions", "first_quarter", "last_quarter"))


def users_at(*moments):
    return [RunningSum.objects.filter(quarter__lt=moment).latest("quarter").users for moment in moments]


def check_sums():
    assert not recompute_ledger_sums(mend=False)
    assert not recompute_rolled_up_sums(mend=False)


def test_nothing_is_closed_before_anything_has_happened():
    assert close_days(now=NOW) == 0
    assert not recompute_rolled_up_sums()


def test_a_day_is_closed_an_hour_after_its_end():
    spend_at(MIDNIGHT + HOUR)
    assert close_days(now=MIDNIGHT + DAY + HOUR - dt.timedelta(seconds=1)) == 0
    assert close_days(now=MIDNIGHT + DAY + HOUR) == 1
    assert closed_until() == MIDNIGHT + DAY
    check_sums()


def test_a_day_in_which_something_began_that_still_runs_is_open():
    spend_at(MIDNIGHT)
    running = open_at(MIDNIGHT + DAY)
    assert close_days(now=NOW) == 1
    settle_at(running, "0.25")
    assert close_days(now=NOW) == 2
    check_sums()


def test_many_days_are_closed_in_their_order_some_at_once():
    spend_at(MIDNIGHT)
    assert [close_days(now=NOW + 2 * DAY, at_most=2) for _ in range(4)] == [2, 2, 1, 0]
    check_sums()


def test_all_but_conversations_are_rolled_up_by_the_day_and_by_the_month():
    alice = make_user("alice")
    for day in range(3):
        spend_at(MIDNIGHT + day * DAY, alice)
    close_days(now=NOW)
    assert rolled_up("user") == [(MIDNIGHT.replace(day=1), alice.pk, 1)]
    assert rolled_up("user", "day") == [(MIDNIGHT + day * DAY, alice.pk, 1) for day in range(3)]
    assert not rolled_up("conversation", "day")
    assert [completions for *_, completions in rolled_up("purpose", "day")] == [1, 1, 1]


def test_users_have_a_sum_of_each_week_that_is_closed():
    alice = make_user("alice")
    for day in (0, 1, 2, 8, 9):  # Saturday, Sunday, and Monday of a new week
        spend_at(MIDNIGHT + day * DAY, alice)
    monday = MIDNIGHT - 5 * DAY
    close_days(now=MIDNIGHT + DAY + HOUR)
    assert not rolled_up("user", "week")
    close_days(now=MIDNIGHT + 2 * DAY + HOUR)
    assert rolled_up("user", "week") == [(monday, alice.pk, 2)]
    close_days(now=MIDNIGHT + 20 * DAY)
    assert rolled_up("user", "week") == [
        (monday + week * 7 * DAY, alice.pk, count) for week, count in enumerate((2, 2, 1))
    ]
    check_sums()
    alice.delete()
    assert [key_id for _, key_id, _ in rolled_up("user", "week")] == [0, 0, 0]
    check_sums()


def test_weeks_that_the_version_before_has_closed_are_added_up_with_the_next_day():
    alice = make_user("alice")
    for day in (0, 1, 8, 15):
        spend_at(MIDNIGHT + day * DAY, alice)
    close_days(now=MIDNIGHT + 12 * DAY)
    filled = rolled_up("user", "week")
    for table in (RolledUpSum, ActiveUsers):
        table.objects.filter(span="week").delete()
    check_sums()
    close_days(now=MIDNIGHT + 13 * DAY)
    assert rolled_up("user", "week") == filled
    check_sums()


def test_a_conversation_has_all_its_closed_days_in_one_sum():
    alice = make_user("alice")
    conversation = begin(alice)
    for day in (0, 2):
        spend_at(MIDNIGHT + day * DAY, alice, conversation=conversation)
    close_days(now=NOW, at_most=1)
    assert all_of_conversations() == [(conversation.pk, 1, MIDNIGHT, MIDNIGHT)]
    close_days(now=NOW)
    assert all_of_conversations() == [(conversation.pk, 2, MIDNIGHT, MIDNIGHT + 2 * DAY)]
    check_sums()


def test_people_are_counted_once_in_the_24_hours_before_a_moment():
    alice, bob = make_user("alice"), make_user("bob")
    for hour, person in ((1, alice), (1, alice), (9, bob), (25, alice), (30, None)):
        spend_at(MIDNIGHT + hour * HOUR, person)
    close_days(now=NOW)
    hours = (2, 10, 33, 34, 49, 50)
    assert users_at(*(MIDNIGHT + hour * HOUR for hour in hours)) == [1, 2, 2, 1, 1, 0]
    check_sums()


def test_what_is_deleted_is_no_ones_in_closed_days_too():
    alice, bob = make_user("alice"), make_user("bob")
    conversation = begin(alice)
    spend_at(MIDNIGHT, alice, conversation=conversation)
    spend_at(MIDNIGHT, bob)
    spend_at(MIDNIGHT, None)
    spend_at(MIDNIGHT + DAY, bob)  # when alice has just gone out of the 24 hours before
    spend_at(MIDNIGHT + 2 * DAY + HOUR, alice)
    close_days(now=NOW)
    alice.delete()
    month = MIDNIGHT.replace(day=1)
    assert rolled_up("user") == [(month, 0, 2), (month, bob.pk, 1)]
    assert rolled_up("conversation") == [(month, 0, 3)]
    assert all_of_conversations() == [(0, 5, MIDNIGHT, MIDNIGHT + 2 * DAY + HOUR)]
    assert users_at(MIDNIGHT + DAY, MIDNIGHT + DAY + HOUR) == [1, 1]
    check_sums()


def test_a_scenario_that_is_deleted_leaves_its_amounts_to_no_scenario():
    scenario = Scenario.objects.create(name="Gone soon")
    spend_at(MIDNIGHT, scenario=scenario)
    spend_at(MIDNIGHT)
    close_days(now=NOW)
    scenario.delete()
    assert rolled_up("scenario", "day") == [(MIDNIGHT, 0, 2)]
    check_sums()


@pytest.mark.django_db(transaction=True)
def test_no_day_is_closed_in_the_middle_of_a_deletion():
    spend_at(MIDNIGHT)
    with Browsers() as others, transaction.atomic():
        wait_for_other_deletions()
        assert others.start(lambda: close_days(now=NOW)).result() == 0
    assert close_days(now=NOW) == 3


@pytest.mark.django_db(transaction=True)
def test_a_deletion_waits_for_the_days_that_are_being_closed():
    alice = make_user("alice")
    spend_at(MIDNIGHT, alice)
    with Browsers() as others:
        with transaction.atomic():
            close_days(now=NOW)
            deleting = others.start(alice.delete)
            wait_for_lock_waits()
        deleting.result()
    assert rolled_up("user") == [(MIDNIGHT.replace(day=1), 0, 1)]
    check_sums()


@pytest.mark.parametrize("changed", [RolledUpSum, RunningSum, ConversationSum])
def test_what_a_user_changed_is_found_and_mended(changed):
    spend_at(MIDNIGHT)
    close_days(now=NOW)
    changed.objects.update(reasoning_tokens=7)
    assert recompute_rolled_up_sums(mend=False)
    assert recompute_rolled_up_sums()
    check_sums()
    assert rolled_up("user") == [(MIDNIGHT.replace(day=1), 0, 1)]


def test_what_was_closed_too_early_is_open_again_when_mended():
    spend_at(MIDNIGHT)
    close_days(now=NOW)
    open_at(MIDNIGHT + DAY)
    spend_at(MIDNIGHT)
    assert recompute_rolled_up_sums()
    assert closed_until() == MIDNIGHT + DAY


def test_workers_close_days_now_and_then():
    spend_at(timezone.now() - 3 * DAY)
    tidy_once()
    assert RunningSum.objects.exists()
