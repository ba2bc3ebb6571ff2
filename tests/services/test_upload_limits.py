"""How large and how many files a person may send in a day."""

from __future__ import annotations

import datetime as dt

import pytest

from chatsite.accounts.models import Limits
from conversations.core.errors import UploadsForbidden, UploadsUsedUp, UploadTooLarge
from conversations.models import UploadCount
from conversations.services.documents.upload_limits import count_upload, sweep_upload_counts
from tests.support.concurrent_users import at_once
from tests.support.people import make_user

pytestmark = pytest.mark.django_db


def limited(**limits):
    alice = make_user("alice")
    Limits.objects.create(user=alice, **limits)
    return alice


def test_without_a_limit_files_are_counted_all_the_same():
    alice = make_user("alice")
    for _ in range(3):
        count_upload(alice, size_bytes=10**9)
    assert UploadCount.objects.get().uploads == 3


def test_as_many_in_a_day_as_the_limit_says_and_again_from_midnight_on():
    alice = limited(uploads_per_day=2)
    for _ in range(2):
        count_upload(alice, size_bytes=1)
    with pytest.raises(UploadsUsedUp) as refused:
        count_upload(alice, size_bytes=1)
    counted = UploadCount.objects.get()
    assert counted.uploads == 2
    assert refused.value.opens_at == dt.datetime.combine(counted.day + dt.timedelta(days=1), dt.time(), dt.UTC)


def test_yesterdays_files_do_not_count_and_are_forgotten():
    alice = limited(uploads_per_day=1)
    count_upload(alice, size_bytes=1)
    UploadCount.objects.update(day=dt.date(2026, 1, 1))
    count_upload(alice, size_bytes=1)
    sweep_upload_counts()
    assert UploadCount.objects.get().day > dt.date(2026, 1, 1)


def test_a_file_may_be_as_large_as_the_limit_says():
    alice = limited(upload_kilobytes=5)
    count_upload(alice, size_bytes=5_000)
    with pytest.raises(UploadTooLarge):
        count_upload(alice, size_bytes=5_001)


def test_a_file_that_is_too_large_counts_and_says_so_even_when_no_more_may_come():
    alice = limited(upload_kilobytes=5, uploads_per_day=1)
    for _ in range(2):
        with pytest.raises(UploadTooLarge):
            count_upload(alice, size_bytes=5_001)
    with pytest.raises(UploadsUsedUp):
        count_upload(alice, size_bytes=5_000)
    assert UploadCount.objects.get().uploads == 1


@pytest.mark.parametrize("name", ["uploads_per_day", "upload_kilobytes"])
def test_a_limit_of_0_allows_no_files(name):
    with pytest.raises(UploadsForbidden):
        count_upload(limited(**{name: 0}), size_bytes=0)
    assert not UploadCount.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_many_sent_at_once_as_many_are_taken_as_may_be():
    alice = limited(uploads_per_day=3)
    outcomes = at_once(lambda _: count_upload(alice, size_bytes=1), range(12), refused_by=UploadsUsedUp)
    assert [type(outcome) for outcome in outcomes].count(UploadsUsedUp) == 9
    assert UploadCount.objects.get().uploads == 3
