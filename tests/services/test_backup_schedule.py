"""The backup schedule: a backup is due once, in one process, also after a failure, a kill and a jump of the clock."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from django.db.models import F

from conversations.backup_probe import judge_backups
from conversations.models import BackupSchedule
from conversations.selectors.figures.backup_status import BackupStatus, backup_status
from conversations.services.backups.backup_schedule import (
    RETRY,
    claim_scheduled_backup,
    note_failed_backup,
    note_made_backup,
    release_scheduled_backup,
    renew_scheduled_backup,
)
from tests.support.waiting import wait_for_lock_waits

pytestmark = pytest.mark.django_db
DAY = dt.timedelta(days=1)


def let_pass(duration):
    BackupSchedule.objects.update(tried_at=F("tried_at") - duration, made_at=F("made_at") - duration)


def is_due():
    return claim_scheduled_backup(every=DAY)


def test_one_process_makes_it_and_the_next_is_due_a_day_later():
    assert is_due()
    assert not is_due()
    note_made_backup()
    let_pass(DAY * 0.99)
    assert not is_due()
    let_pass(DAY * 0.02)
    assert is_due()
    assert not is_due()


@pytest.mark.django_db(transaction=True)
def test_a_process_that_waited_for_another_ones_claim_makes_none():
    """Its statement began before that claim, which is no jump of the clock."""
    assert is_due()
    release_scheduled_backup()
    with ThreadPoolExecutor(1) as other:
        with transaction.atomic():
            BackupSchedule.objects.select_for_update().get()
            waiting = other.submit(lambda: (is_due(), connection.close())[0])
            wait_for_lock_waits()
            assert is_due()
        assert waiting.result() is False


def test_one_whose_process_was_killed_or_failed_is_tried_again():
    assert is_due()
    let_pass(RETRY * 0.9)
    renew_scheduled_backup()
    let_pass(RETRY * 0.9)
    assert not is_due()
    let_pass(RETRY * 0.2)
    assert is_due()
    note_failed_backup("no room")
    assert not is_due()
    let_pass(RETRY * 1.1)
    assert is_due()
    release_scheduled_backup()
    assert is_due()


def test_a_clock_that_was_put_back_stops_no_backups():
    assert is_due()
    note_made_backup()
    let_pass(-10 * DAY)
    assert is_due()


def test_its_age_and_its_failure_are_known():
    assert backup_status() is None
    is_due()
    note_failed_backup("no room")
    assert backup_status() == BackupStatus(None, True)
    note_made_backup()
    let_pass(DAY)
    status = backup_status()
    assert not status.has_failed
    assert 86_400 <= status.age_seconds < 90_000


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (BackupStatus(3_600.0, False), ""),
        (BackupStatus(47 * 3_600.0, False), ""),
        (BackupStatus(49 * 3_600.0, False), "the newest scheduled backup is 49 hours old"),
        (BackupStatus(-10.0, False), ""),
        (
            BackupStatus(-86_400.0, False),
            "the time of the newest scheduled backup has not come yet: a clock was wrong",
        ),
        (BackupStatus(3_600.0, True), "the last scheduled backup failed; the log of the worker says why"),
        (BackupStatus(None, False), "no scheduled backup has been made yet"),
        (None, "no scheduled backup has been made yet"),
    ],
)
def test_readiness_is_degraded_by_what_is_missing(status, reason):
    found = judge_backups(status, every_hours=24)
    assert (found.state, found.reason) == ("degraded" if reason else "ok", reason)
