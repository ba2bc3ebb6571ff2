"""A worker has no file descriptor left: its replies are made by another one, or by itself once it has some again."""

from __future__ import annotations

import resource
import urllib.request
from contextlib import contextmanager

import psycopg
import pytest

from tests.support.patience import PATIENCE_SECONDS, wait_for

FEWER_THAN_ARE_OPEN = 5
BLOCKED = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'conversations_completion'::regclass"
STATE = "SELECT state FROM conversations_run WHERE reply_id = %s"
SAYS_SO = "can open no connection"


def bound_descriptors(process, soft_limit):
    """Let the process open no descriptor above that; returns the limit that it had."""
    pid, hard_limit = process.process.pid, resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft_limit, hard_limit))[0]


@contextmanager
def requests_blocked(database):
    """Let no request be opened until the end of the block."""
    with psycopg.connect(dbname=database.name, **database.address) as connection:
        connection.execute("LOCK TABLE conversations_completion IN SHARE MODE")
        yield
        connection.rollback()


def readiness(site):
    with urllib.request.urlopen(f"{site.address}/readyz", timeout=PATIENCE_SECONDS) as response:
        return response.read().decode()


@pytest.fixture
def site(parted_site):
    parted_site.database.rows("DELETE FROM conversations_workerheartbeat")
    parted_site.answer_with("ok")
    return parted_site


def states(site, replies):
    return {site.database.value(STATE, reply) for reply in replies}


@pytest.mark.parametrize("by", ["another worker", "the same worker"])
def test_a_reply_is_handed_back_and_made_later(site, by):
    said_before = len(site.log.read_text())
    with requests_blocked(site.database):
        worker = site.run_worker()
        replies = [site.open_page().ask() for _ in range(3)]
        wait_for(lambda: site.database.value(BLOCKED), "a request is about to be opened")
        wait_for(lambda: states(site, replies) == {"running"}, "all are claimed")
        limit_before = bound_descriptors(worker, FEWER_THAN_ARE_OPEN)
    wait_for(lambda: states(site, replies) == {"waiting"}, "all are handed back")
    wait_for(lambda: readiness(site) == "ready, degraded: worker", "the site says that it has no worker")
    if by == "another worker":
        site.run_worker()
    else:
        bound_descriptors(worker, limit_before)
    for reply in replies:
        ended = site.wait_for_end(reply)
        assert (ended["state"], ended["content"]) == ("complete", "Hello from the upstream.")
        assert [row["error_code"] for row in site.ledger(reply)] == ["worker_exhausted", ""]
    assert site.log.read_text()[said_before:].count(SAYS_SO) == 1
