"""How many passwords may be tried: exactly so many, also all at once."""

from __future__ import annotations

import datetime as dt

import pytest
from django.utils import timezone

from chatsite.accounts.attempts import TooManyAttempts, delete_old_attempts
from chatsite.accounts.gate.attempts import (
    MAX_PER_ACCOUNT,
    MAX_PER_ADDRESS,
    PERIOD,
    count_gate_attempt,
    refund_gate_attempt,
)
from chatsite.accounts.models import AttemptCount
from tests.support.concurrent_users import at_once
from tests.support.people import make_user

pytestmark = pytest.mark.django_db
HERE = "198.51.100.1"


def attempt(user, address=HERE):
    """Return whether the attempt is looked at."""
    try:
        count_gate_attempt(user, address)
    except TooManyAttempts:
        return False
    return True


def people(count):
    return [make_user(f"person{number}") for number in range(count)]


def test_an_account_has_ten_attempts_an_hour(ada):
    assert [attempt(ada, f"198.51.100.{number}") for number in range(12)] == [True] * MAX_PER_ACCOUNT + [False] * 2


def test_an_address_has_thirty_over_all_accounts(db):
    assert [attempt(person) for person in people(32)] == [True] * MAX_PER_ADDRESS + [False] * 2


def test_others_elsewhere_are_not_held_up(ada):
    for _ in range(50):
        attempt(ada)
    assert attempt(make_user("bob"), "203.0.113.9")


@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1%eth0", "2001:db8:1:2::1%eth1", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:198.51.100.1", "198.51.100.1", True),
        ("198.51.100.1", "198.51.100.2", False),
        ("", "", True),
        ("unknown7", "unknown8", True),
    ],
)
def test_a_network_of_one_customer_is_one_address(first, second, is_one):
    crowd = people(MAX_PER_ADDRESS + 1)
    for person in crowd[1:]:
        count_gate_attempt(person, first)
    assert attempt(crowd[0], second) is not is_one


def test_a_house_with_many_networks_has_a_wider_limit(db):
    """Thirty times ten: of 65,536 networks, each with its own attempts."""
    user, looked_at = make_user("alice"), 0
    for number in range(MAX_PER_ADDRESS * 10 + 5):
        AttemptCount.objects.filter(pk=f"gate account {user.pk}").delete()
        looked_at += attempt(user, f"2001:db8:1:{number:x}::1")
    assert looked_at == 300
    assert attempt(make_user("bob"), "2001:db8:2::1")


def test_tries_of_an_account_that_is_full_shut_out_no_one_else(ada):
    for _ in range(MAX_PER_ADDRESS + 10):
        attempt(ada)
    assert attempt(make_user("bob"))


def test_it_says_when_it_opens_again_and_knocking_does_not_put_that_off(ada):
    for _ in range(MAX_PER_ACCOUNT):
        count_gate_attempt(ada, HERE)
    opens = []
    for _ in range(3):
        with pytest.raises(TooManyAttempts) as refusal:
            count_gate_attempt(ada, HERE)
        opens.append(refusal.value.opens_at)
    assert len(set(opens)) == 1
    assert timezone.now() + PERIOD - dt.timedelta(minutes=1) < opens[0] <= timezone.now() + PERIOD


def test_after_the_hour_it_begins_again(ada):
    for _ in range(MAX_PER_ACCOUNT + 1):
        attempt(ada)
    AttemptCount.objects.update(began_at=timezone.now() - PERIOD - dt.timedelta(seconds=1))
    assert [attempt(ada) for _ in range(MAX_PER_ACCOUNT + 1)] == [True] * MAX_PER_ACCOUNT + [False]


def test_who_knew_the_password_takes_nothing_from_others(db):
    """More people than attempts come from one address, and all know it."""
    for person in people(MAX_PER_ADDRESS + 5):
        count_gate_attempt(person, HERE)
        refund_gate_attempt(person, HERE)
    assert AttemptCount.objects.get().count == 0


def test_no_address_is_kept(ada):
    count_gate_attempt(ada, HERE)
    assert not AttemptCount.objects.filter(tried_by__contains=HERE).exists()


def test_counts_that_are_over_are_swept(ada):
    count_gate_attempt(ada, HERE)
    assert delete_old_attempts() == 0
    AttemptCount.objects.update(began_at=timezone.now() - PERIOD - dt.timedelta(seconds=1))
    assert delete_old_attempts() == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("accounts", "looked_at"), [(1, MAX_PER_ACCOUNT), (100, MAX_PER_ADDRESS)])
def test_of_a_hundred_at_once_exactly_the_limit_is_looked_at(accounts, looked_at):
    """Of one account from many addresses, and of a hundred accounts from one address."""
    crowd, threads = people(accounts), 20

    def knock(thread):
        numbers = range(thread, 100, threads)
        addresses = {number: HERE if accounts > 1 else f"198.51.100.{number}" for number in numbers}
        return sum(attempt(crowd[number % accounts], address) for number, address in addresses.items())

    assert sum(at_once(knock, range(threads))) == looked_at
