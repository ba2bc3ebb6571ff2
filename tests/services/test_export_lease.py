"""One export of a person at a time, whatever process makes it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.db.models.functions import Now

from conversations.models import ExportLease
from conversations.services.portability.export_lease import (
    HELD_FOR,
    LeaseLost,
    give_lease_back,
    prolong_lease,
    take_lease,
)
from tests.support.people import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return make_user("alice")


def let_it_run_out():
    ExportLease.objects.update(ends_at=Now() - HELD_FOR)


def test_a_second_one_waits_until_the_first_is_given_back(alice):
    lease = take_lease(alice)
    assert take_lease(alice) is None
    assert take_lease(make_user("bob"))
    give_lease_back(lease)
    assert take_lease(alice)


def test_one_that_no_one_reads_any_more_runs_out(alice):
    lost = take_lease(alice)
    let_it_run_out()
    newer = take_lease(alice)
    give_lease_back(lost)
    assert newer
    with pytest.raises(LeaseLost):
        prolong_lease(lost)
    assert take_lease(alice) is None


def test_one_that_is_read_is_held_on_to(alice):
    lease = take_lease(alice)
    let_it_run_out()
    prolong_lease(lease)
    assert take_lease(alice) is None


def test_it_goes_with_the_account(alice):
    take_lease(alice)
    alice.delete()
    assert not ExportLease.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("has_run_out", [False, True])
def test_of_several_processes_at_once_one_gets_it(alice, has_run_out):
    if has_run_out:
        take_lease(alice)
        let_it_run_out()

    def take(_):
        try:
            return take_lease(alice)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as processes:
        assert len([lease for lease in processes.map(take, range(4)) if lease]) == 1
