"""May this person come in? The rule as a table, and that the database knows the same of a person."""

from __future__ import annotations

import datetime as dt
import itertools
import uuid
from dataclasses import replace

import pytest
from django.utils import timezone

from chatsite.accounts.gate.admission import (
    Admission,
    AdmissionFacts,
    decide_admission,
    find_admission,
    find_admissions,
    load_admission_facts,
)
from chatsite.accounts.gate.seats import admit, list_seat_requests
from chatsite.accounts.models import Gate, GateEntry, GatePassword, GateRule, Role
from tests.accounts.gates import enter, make_password, rotate, shut_gate
from tests.support.people import make_user

ADMITTED, SIGNED_OUT, PASSWORD_REQUIRED, WAITING, BLOCKED = Admission
V, OLD = uuid.UUID(int=1), uuid.UUID(int=2)  # the same in each collection of the tests
TO_COME, PAST = dt.timedelta(minutes=5), -dt.timedelta(seconds=1)
UNREMARKABLE = AdmissionFacts(
    is_active=True,
    role="user",
    gate_rule="site",
    mode="off",
    required_version=None,
    entry_version=None,
    is_seated=False,
)

# What is known of the person besides, and the answer
TABLE = [
    ({}, ADMITTED),
    ({"mode": "shared"}, PASSWORD_REQUIRED),
    ({"mode": "personal"}, PASSWORD_REQUIRED),
    ({"mode": "shared", "required_version": V}, PASSWORD_REQUIRED),
    ({"mode": "shared", "required_version": V, "entry_version": OLD, "is_seated": True}, PASSWORD_REQUIRED),
    ({"mode": "shared", "entry_version": OLD, "is_seated": True}, PASSWORD_REQUIRED),
    ({"mode": "shared", "required_version": V, "entry_version": V}, WAITING),
    ({"mode": "shared", "required_version": V, "entry_version": V, "is_seated": True}, ADMITTED),
    ({"mode": "personal", "required_version": V, "entry_version": V, "is_seated": True}, ADMITTED),
    ({"gate_rule": "required"}, PASSWORD_REQUIRED),
    ({"gate_rule": "required", "required_version": V, "entry_version": V, "is_seated": True}, ADMITTED),
    ({"gate_rule": "waived", "mode": "shared"}, ADMITTED),
    ({"gate_rule": "blocked"}, BLOCKED),
    ({"gate_rule": "blocked", "role": "admin"}, BLOCKED),
    ({"gate_rule": "blocked", "required_version": V, "entry_version": V, "is_seated": True}, BLOCKED),
    ({"role": "admin", "mode": "shared"}, ADMITTED),
    ({"role": "admin", "gate_rule": "required"}, ADMITTED),
    ({"role": "reviewer", "mode": "shared"}, PASSWORD_REQUIRED),
    ({"is_active": False}, SIGNED_OUT),
    ({"is_active": False, "role": "admin"}, SIGNED_OUT),
    ({"is_active": False, "gate_rule": "blocked"}, SIGNED_OUT),
    ({"is_active": False, "gate_rule": "waived"}, SIGNED_OUT),
]


@pytest.mark.parametrize(("known", "answer"), TABLE, ids=str)
def test_the_rule(known, answer):
    assert decide_admission(replace(UNREMARKABLE, **known)) is answer


def test_without_a_gate_everybody_comes_in(db):
    assert find_admission(make_user("alice").pk) is ADMITTED


def test_an_account_that_is_gone_is_signed_out(db):
    assert find_admissions([7]) == {7: SIGNED_OUT}


def test_a_visitor_takes_no_statement():
    """The database is not there in this test."""
    assert find_admissions([]) == {}
    assert find_admission(None) is SIGNED_OUT


@pytest.mark.parametrize("people", [1, 50])
def test_any_number_of_people_take_one_statement(db, people, django_assert_num_queries):
    shut_gate()
    users = [make_user(f"person{number}") for number in range(people)]
    enter(users[0])
    with django_assert_num_queries(1):
        answers = find_admissions([user.pk for user in users])
    assert list(answers.values()) == [ADMITTED] + [PASSWORD_REQUIRED] * (people - 1)


def test_a_user_inside_takes_one_statement(db, django_assert_num_queries):
    shut_gate(seats=1)
    enter(alice := make_user("alice"))
    with django_assert_num_queries(1):
        assert admit(alice) is ADMITTED


@pytest.mark.parametrize(
    ("own", "shared", "mode", "opens"),
    [
        ({}, {}, "shared", "own"),
        ({}, {}, "personal", "own"),
        ({}, {}, "off", "own"),
        ({"expires_at": TO_COME}, {}, "shared", "own"),
        ({"expires_at": PAST}, {}, "shared", "shared"),
        ({"revoked_at": PAST}, {}, "shared", "shared"),
        ({"expires_at": PAST}, {}, "personal", None),
        ({"revoked_at": PAST}, {}, "off", None),
        (None, {}, "shared", "shared"),
        (None, {}, "personal", None),
        (None, {}, "off", None),
        (None, {"expires_at": TO_COME}, "shared", "shared"),
        (None, {"expires_at": PAST}, "shared", None),
        (None, {"revoked_at": PAST}, "shared", None),
        (None, None, "shared", None),
    ],
)
def test_which_password_opens_the_gate(db, own, shared, mode, opens):
    alice = make_user("alice")
    Gate.objects.create(mode=mode)
    stored = {
        name: make_password(user, **{field: timezone.now() + delta for field, delta in fields.items()})
        for name, user, fields in (("own", alice, own), ("shared", None, shared))
        if fields is not None
    }
    facts = load_admission_facts([alice.pk])[alice.pk]
    assert facts.required_version == (stored[opens].version if opens else None)


def test_another_users_password_opens_nothing(db):
    shut_gate("personal")
    alice, bob = make_user("alice"), make_user("bob")
    enter(alice, make_password(bob))
    assert find_admission(alice.pk) is PASSWORD_REQUIRED


def test_a_password_that_changes_shuts_out_who_came_in_by_it(db):
    shut_gate()
    enter(alice := make_user("alice"))
    assert find_admission(alice.pk) is ADMITTED
    rotate()
    assert find_admission(alice.pk) is PASSWORD_REQUIRED


def test_a_password_that_ends_shuts_out_at_its_time(db):
    password = shut_gate()
    enter(alice := make_user("alice"))
    GatePassword.objects.filter(pk=password.pk).update(expires_at=timezone.now() + PAST)
    assert find_admission(alice.pk) is PASSWORD_REQUIRED


@pytest.mark.parametrize("mode", ["off", "shared", "personal"])
def test_only_users_who_are_admitted_by_a_seat_count_as_having_one(db, mode):
    """The statement that gives seats says the same as the rule, for everybody there can be."""
    shut_gate(mode)
    crowd = list(itertools.product(Role, GateRule, (True, False), ("none", "own", "old own"), ("right", "wrong", "no")))
    for number, (role, rule, is_active, own, given) in enumerate(crowd):
        person = make_user(f"person{number}", role=role, gate_rule=rule, is_active=is_active)
        if own != "none":
            make_password(person, revoked_at=timezone.now() if own == "old own" else None)
        if given != "no":
            version = load_admission_facts([person.pk])[person.pk].required_version if given == "right" else None
            seat = {"unlocked_at": timezone.now(), "seated_at": timezone.now()}
            GateEntry.objects.create(user=person, version=version or uuid.uuid4(), **seat)
    ids = set(GateEntry.objects.values_list("user", flat=True))
    inside = {user_id for user_id, answer in find_admissions(ids).items() if answer is ADMITTED}
    GateEntry.objects.update(seated_at=None)
    by_their_seat = {user_id for user_id, answer in find_admissions(ids).items() if answer is WAITING}
    assert {place.user_id for place in list_seat_requests()} == by_their_seat <= inside
    assert by_their_seat
