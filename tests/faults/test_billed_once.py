"""Workers are suspended or killed around a request: what was asked for once is neither asked for nor billed again."""

from __future__ import annotations

import json
import os
import signal
from contextlib import contextmanager

import psycopg
import pytest

from tests.support.patience import wait_for

from .sites import ENDED

PURPOSES = "SELECT purpose FROM conversations_completion WHERE reply_id = %s ORDER BY id"
READY = "SELECT count(*) FROM conversations_toolcall WHERE reply_id = %s AND state = 'ready'"
HELD_BACK = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'"
ENDING = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND strpos(query, 'ended AS (') > 0
"""
HOLD_CALLS = """
CREATE FUNCTION hold_call() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM pg_advisory_xact_lock(52); RETURN NEW;
END $$;
CREATE TRIGGER hold_call BEFORE UPDATE ON conversations_toolcall FOR EACH ROW EXECUTE FUNCTION hold_call();
"""
LET_CALLS_GO = "DROP TRIGGER hold_call ON conversations_toolcall; DROP FUNCTION hold_call()"


@contextmanager
def asleep(process):
    os.kill(process.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process.process.pid, signal.SIGCONT)


@contextmanager
def held(database, statement, *parameters):
    """Keep what *statement* locks until the end of the block."""
    with psycopg.connect(dbname=database.name, **database.address) as connection:
        connection.execute(statement, parameters)
        yield
        connection.rollback()


def is_settled(site, reply):
    return [row for row in site.ledger(reply) if row["ended_at"]]


def test_a_worker_that_slept_past_its_lease_does_not_ask_again(parted_site):
    """It sleeps in the pause before a request is repeated; meanwhile another worker makes the reply."""
    sleeper = parted_site.run_worker()
    page = parted_site.open_page()
    reply = parted_site.ask(page, "status-503-after-5-times-1")
    wait_for(lambda: is_settled(parted_site, reply), "the first request was refused")
    with asleep(sleeper):
        other = parted_site.run_worker()
        assert parted_site.wait_for_end(reply)["content"] == "Hello from the upstream."
        other.kill()
    parted_site.answer_with("ok")
    following = page.ask()
    assert parted_site.wait_for_end(following)["state"] == "complete"  # it is awake
    assert [row["error_code"] for row in parted_site.ledger(reply)] == ["provider_unavailable", ""]
    assert len(parted_site.upstream.log()) == 3


def test_an_answer_that_is_paid_for_is_kept_when_its_worker_is_killed_before_the_end(parted_site):
    parted_site.give_tools("count_up")  # without tools both are one transaction
    killed = parted_site.run_worker()
    reply = parted_site.ask(parted_site.open_page(), "held-before")
    with held(parted_site.database, "SELECT FROM conversations_run WHERE reply_id = %s FOR UPDATE", reply):
        parted_site.upstream.release()
        wait_for(lambda: is_settled(parted_site, reply), "the request is settled")
        killed.kill()
    parted_site.run_worker()
    ended = parted_site.wait_for_end(reply)
    assert (ended["state"], ended["content"]) == ("complete", "Hello from the upstream.")
    assert [row["error_code"] for row in parted_site.ledger(reply)] == [""]
    assert len(parted_site.upstream.log()) == 1


def test_an_answer_is_not_paid_for_when_its_worker_is_killed_as_it_ends_the_reply(parted_site):
    parted_site.give_tools()
    killed = parted_site.run_worker()
    reply = parted_site.ask(parted_site.open_page(), "held-before")
    with held(parted_site.database, "SELECT FROM conversations_run WHERE reply_id = %s FOR UPDATE", reply):
        parted_site.upstream.release()
        wait_for(lambda: parted_site.database.rows(ENDING), "the reply is about to end")
        killed.kill()
        for each in parted_site.database.rows(ENDING):
            parted_site.database.rows("SELECT pg_terminate_backend(%s)", each["pid"])
        wait_for(lambda: not parted_site.database.rows(ENDING), "nothing of it is left")
        assert not is_settled(parted_site, reply)
    parted_site.run_worker()
    wait_for(lambda: parted_site.upstream.release() or parted_site.database.rows(ENDED, reply), "the reply has ended")
    ended, rows = parted_site.wait_for_end(reply), parted_site.ledger(reply)
    assert ended["state"] == ("complete" if len(rows) > 1 else "interrupted")  # made again, unless a text was saved
    assert all(row["ended_at"] for row in rows)


@pytest.mark.parametrize("said", [[], [{"say": "Let me count."}]], ids=["without a word", "after some words"])
def test_calls_that_are_paid_for_are_run_by_another_worker(parted_site, notes, said):
    database = parted_site.database
    parted_site.give_tools("count_up")
    parted_site.answer_with("tools-script")
    killed = parted_site.run_worker()
    page = parted_site.open_page()
    database.rows(HOLD_CALLS)
    try:
        with held(database, "SELECT pg_advisory_xact_lock(52)"):
            reply = page.ask(json.dumps({"calls": [[*said, {"name": "count_up", "arguments": {"note": "once"}}]]}))
            wait_for(lambda: database.value(READY, reply) and database.rows(HELD_BACK), "the call is about to begin")
            killed.kill()
            for each in database.rows(HELD_BACK):  # as if it had been killed just before
                database.rows("SELECT pg_terminate_backend(%s)", each["pid"])
            wait_for(lambda: not database.rows(HELD_BACK), "nothing of it is left")
    finally:
        database.rows(LET_CALLS_GO)
    parted_site.run_worker()
    assert parted_site.wait_for_end(reply)["state"] == "complete"
    assert notes.lines == ["once"]
    assert [row["purpose"] for row in database.rows(PURPOSES, reply)] == ["tool_step", "reply"]
    assert len(parted_site.upstream.log()) == 2
