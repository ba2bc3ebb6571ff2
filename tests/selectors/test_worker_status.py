from __future__ import annotations

import datetime as dt

import pytest
from django.db.models import F

from conversations.models import Run, WorkerHeartbeat
from conversations.models.worker_heartbeat import HEARTBEAT_VALID
from conversations.runs.claim import claim_runs
from conversations.runs.heartbeat import beat, end_heartbeat, sweep_heartbeats
from conversations.selectors.figures.worker_status import worker_status
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db


def silence(name, duration=HEARTBEAT_VALID):
    WorkerHeartbeat.objects.filter(pk=name).update(seen_at=F("seen_at") - duration)


def test_without_a_worker_none_is_alive_and_nothing_waits():
    status = worker_status()
    assert (status.is_alive, status.alive, status.last_seen_seconds) == (False, 0, None)
    assert (status.waiting, status.oldest_waiting_seconds) == (0, None)


def test_workers_are_alive_as_long_as_their_heartbeat_is_fresh():
    beat("one"), beat("two"), beat("one")
    assert worker_status().alive == 2
    silence("one")
    assert worker_status().alive == 1
    silence("two")
    status = worker_status()
    assert not status.is_alive
    assert status.last_seen_seconds >= HEARTBEAT_VALID.total_seconds()
    beat("one")
    assert worker_status().is_alive


def test_a_worker_that_drains_is_not_counted():
    beat("one")
    end_heartbeat("one")
    assert not worker_status().is_alive


def test_the_oldest_waiting_run_is_told():
    post(begin(make_user("alice")), "Hello")
    post(begin(make_user("bob")), "Hello")
    Run.objects.filter(pk=Run.objects.earliest("pk").pk).update(
        waiting_since=F("waiting_since") - dt.timedelta(minutes=1)
    )
    status = worker_status()
    assert status.waiting == 2
    assert 60 <= status.oldest_waiting_seconds < 120
    claim_runs("one", limit=1)
    assert worker_status().waiting == 1
    assert worker_status().oldest_waiting_seconds < 60


def test_old_heartbeats_are_swept():
    beat("one"), beat("two")
    silence("one", dt.timedelta(days=1))
    sweep_heartbeats()
    assert list(WorkerHeartbeat.objects.values_list("name", flat=True)) == ["two"]
