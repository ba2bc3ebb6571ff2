"""Seats: none is assigned twice, and the waiting list is served in order."""

from __future__ import annotations

import pytest
from django.db import transaction

from chatsite.accounts.gate.admission import Admission, find_admission
from chatsite.accounts.gate.passwords import set_password
from chatsite.accounts.gate.seats import admit, assign_seats, list_seat_requests, lock_gate, waiting_position
from chatsite.accounts.gate.unlock import unlock
from chatsite.accounts.models import Gate, GateEntry, User
from tests.accounts.browsers import Browsers
from tests.accounts.gates import enter, make_password, rotate, shut_gate
from tests.support.concurrent_users import at_once
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import make_user
from tests.support.waiting import wait_for_lock_waits

pytestmark = pytest.mark.django_db
RAW = "a window seat, please"


@pytest.fixture
def crowd():
    """A gate with two seats, and five people who come one after the other."""
    shut_gate(seats=2)
    people = [make_user(name) for name in ("ada", "bob", "cleo", "dora", "emil")]
    for person in people:
        enter(person)
    return people


def inside(people):
    return [person.name for person in people if admit(person) is Admission.ADMITTED]


def change(person, **fields):
    User.objects.filter(pk=person.pk).update(**fields)


def test_the_first_get_the_seats_and_the_others_wait_in_line(crowd):
    assert inside(crowd) == ["Ada", "Bob"]
    assert [waiting_position(person.pk) for person in crowd[2:]] == [1, 2, 3]
    assert [place.name for place in list_seat_requests()] == ["Ada", "Bob", "Cleo", "Dora", "Emil"]


def test_without_a_cap_everybody_has_a_seat():
    shut_gate()
    people = [make_user(f"person{number}") for number in range(5)]
    for person in people:
        enter(person)
    assert len(inside(people)) == 5


def test_no_seat_at_all_lets_no_one_in():
    shut_gate(seats=0)
    enter(ada := make_user("ada"))
    assert admit(ada) is Admission.WAITING


@pytest.mark.parametrize(
    "fields",
    [{"gate_rule": "blocked"}, {"gate_rule": "waived"}, {"is_active": False}, {"role": "admin"}],
)
def test_a_seat_that_is_not_needed_any_more_goes_to_the_next_in_line(crowd, fields):
    """Whichever waiting user asks first, the one who has waited longest gets it."""
    change(crowd[0], **fields)
    assert admit(crowd[4]) is Admission.WAITING
    assert find_admission(crowd[2].pk) is Admission.ADMITTED
    assert find_admission(crowd[3].pk) is Admission.WAITING


def test_who_comes_back_after_being_blocked_waits_first_in_line(crowd):
    change(crowd[0], gate_rule="blocked")
    assign_seats()
    change(crowd[0], gate_rule="site")
    assert admit(crowd[0]) is Admission.WAITING
    assert waiting_position(crowd[0].pk) == 1
    assert inside(crowd) == ["Bob", "Cleo"]


def test_a_user_who_is_deleted_leaves_a_seat(crowd):
    crowd[0].delete()
    assert inside(crowd[1:]) == ["Bob", "Cleo"]


def test_fewer_seats_send_no_one_out(crowd):
    Gate.objects.update(seats=1)
    assert inside(crowd) == ["Ada", "Bob"]
    change(crowd[0], is_active=False)
    assert inside(crowd) == ["Bob"]


def test_more_seats_let_in_who_waits(crowd):
    Gate.objects.update(seats=4)
    assert inside(crowd) == ["Ada", "Bob", "Cleo", "Dora"]


def test_after_a_rotation_no_one_has_a_seat_and_no_one_waits(crowd):
    rotate()
    assert inside(crowd) == []
    assert list_seat_requests() == []
    enter(crowd[4])
    assert inside(crowd) == ["Emil"]


def test_a_password_of_ones_own_takes_a_seat_too(crowd):
    fay = make_user("fay")
    enter(fay, make_password(fay))
    assert admit(fay) is Admission.WAITING


def test_giving_the_password_again_keeps_the_place_in_line(settings):
    shut_gate(seats=0)
    set_password(RAW)
    people = [make_user(name) for name in ("ada", "bob")]
    for person in [*people, people[0]]:
        assert unlock(person, RAW, address="")
    assert waiting_position(people[0].pk) == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_who_come_for_the_last_seat_at_once_one_gets_it():
    shut_gate(seats=1)
    set_password(RAW)
    people = [make_user(name) for name in ("ada", "bob")]
    with Browsers() as browsers:
        with transaction.atomic():
            lock_gate()
            answers = [browsers.start(lambda one=one: unlock(one, RAW, address="")) for one in people]
            wait_for_lock_waits(2)
        assert [answer.result() for answer in answers] == [True] * 2
    assert sorted(find_admission(person.pk).name for person in people) == ["ADMITTED", "WAITING"]


@pytest.mark.django_db(transaction=True)
def test_who_waits_and_looks_again_waits_for_no_lock():
    shut_gate(seats=0)
    enter(ada := make_user("ada"))
    with Browsers() as browsers, transaction.atomic():
        lock_gate()
        assert browsers.start(admit, ada).result(timeout=PATIENCE_SECONDS) is Admission.WAITING


@pytest.mark.django_db(transaction=True)
def test_of_a_crowd_at_an_empty_gate_as_many_get_in_as_there_are_seats():
    """The gate's row is made by one of them, on the way."""
    password = make_password()
    people = [make_user(f"person{number}", gate_rule="required") for number in range(12)]
    for person in people:
        make_password(person, version=password.version)
    at_once(lambda person: enter(person, password), people)
    assert Gate.objects.count() == 1
    assert GateEntry.objects.exclude(seated_at=None).count() == 12
    GateEntry.objects.update(seated_at=None)
    Gate.objects.update(seats=5)
    at_once(lambda _: assign_seats(), people)
    assert GateEntry.objects.exclude(seated_at=None).count() == 5
