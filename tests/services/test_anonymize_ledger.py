"""Anonymizing the ledger, also while replies run: the amounts stay, and the sums stay those of the ledger."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from django.db import transaction
from django.db.models.signals import pre_delete

from chatsite.accounts.models import User
from conversations.models import Completion, LedgerSum, Scenario
from conversations.services.ledger.recompute_ledger_sums import recompute_ledger_sums
from conversations.services.ledger.recompute_spending import recompute_spending
from tests.accounts.browsers import Browsers
from tests.services.spending import open_row, settle_at
from tests.support.concurrent_users import at_once
from tests.support.people import begin, make_user
from tests.support.waiting import wait_for_lock_waits

pytestmark = pytest.mark.django_db


def spend(user, cost_usd="0.25", **fields):
    settle_at(open_row(user, **fields), cost_usd)


def sums():
    return sorted(LedgerSum.objects.values_list("user_id", "conversation_id", "scenario_id", "completions"), key=repr)


def check_sums():
    assert not recompute_ledger_sums(mend=False)
    assert not recompute_spending(mend=False)


@contextmanager
def before_deleting(do):
    """Call *do* in the middle of the deletion of a user, when the ledger's rows name no user already."""

    def receive(instance, **signal):
        do(instance)

    pre_delete.connect(receive, sender=User)
    yield
    pre_delete.disconnect(receive, sender=User)


def test_what_a_person_used_is_no_ones_then():
    alice = make_user("alice")
    spend(alice)
    spend(None)
    alice.delete()
    assert sums() == [(None, None, None, 2)]
    check_sums()


def test_a_conversation_leaves_the_person_their_amounts():
    alice = make_user("alice")
    conversation = begin(alice)
    spend(alice, conversation=conversation)
    spend(alice, scenario=conversation.scenario)
    conversation.delete()
    assert sums() == [(alice.pk, None, conversation.scenario_id, 2)]
    check_sums()


def test_a_scenario_leaves_everybody_their_amounts():
    people = [make_user("alice"), make_user("bob")]
    scenario = Scenario.objects.create(name="Gone soon")
    for person in people:
        spend(person, scenario=scenario)
        spend(person)
    scenario.delete()
    assert sums() == [(person.pk, None, None, 2) for person in people]
    check_sums()


def test_a_person_goes_with_all_that_is_theirs():
    alice = make_user("alice")
    conversation = begin(alice)
    Scenario.objects.filter(pk=conversation.scenario_id).update(is_default=False)
    own = Scenario.objects.create(name="Own", owner=alice)
    spend(alice, conversation=conversation)
    spend(alice, scenario=own)
    alice.delete()
    assert sum(completions for *_, completions in sums()) == 2
    assert {key for *key, _, _ in sums() for key in key} == {None}
    check_sums()


def test_settling_after_the_deletion_adds_to_no_ones():
    alice = make_user("alice")
    conversation = begin(alice)
    completion = open_row(alice, conversation=conversation)
    alice.delete()
    settle_at(completion, "0.25")
    assert sums() == [(None, None, conversation.scenario_id, 1)]
    check_sums()


@pytest.mark.django_db(transaction=True)
def test_a_deletion_waits_for_what_is_being_settled():
    alice = make_user("alice")
    completion = open_row(alice)
    with Browsers() as others:
        with transaction.atomic():
            settle_at(completion, "0.25")
            deleting = others.start(alice.delete)
            wait_for_lock_waits()
        deleting.result()
    assert sums() == [(None, None, None, 1)]
    check_sums()


@pytest.mark.django_db(transaction=True)
def test_what_is_asked_for_in_the_middle_of_a_deletion_is_moved_too():
    alice = make_user("alice")
    with before_deleting(lambda person: at_once(spend, [User.objects.get(pk=person.pk)])):
        alice.delete()
    assert sums() == [(None, None, None, 1)]
    check_sums()


@pytest.mark.django_db(transaction=True)
def test_deleting_and_settling_at_once_adds_up_and_locks_no_one_out():
    people = [make_user(f"person{number}") for number in range(4)]
    scenarios = [Scenario.objects.create(name=f"Scenario {number}") for number in range(3)]
    running = [open_row(person, scenario=scenario) for person in people for scenario in scenarios]
    for person in people:
        for scenario in scenarios:
            spend(person, scenario=scenario)
    settling = [lambda row=row: settle_at(row, "0.25") for row in running]
    deleting = [gone.delete for gone in (*people[1:], *scenarios[1:])]
    at_once(lambda do: do(), settling + deleting)
    assert set(Completion.objects.values_list("user", "scenario")) == {
        (whose, scenario) for whose in (None, people[0].pk) for scenario in (None, scenarios[0].pk)
    }
    check_sums()
