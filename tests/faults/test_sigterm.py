"""SIGTERM in the middle of ten replies: what can end does, the rest is marked, and the process is gone in time."""

from __future__ import annotations

import time

import pytest

from tests.support.patience import wait_for

from .goals import GONE
from .processes import LogCollector

STATE = "SELECT state FROM conversations_message WHERE id = %s"
NO_WORKER = "SELECT NOT EXISTS (SELECT FROM conversations_workerheartbeat)"
UNCLAIMED = "SELECT state = 'waiting' AND worker = '' FROM conversations_run WHERE reply_id = %s"


def tell_to_stop(process):
    process.terminate()
    wait_for(lambda: process.has_said("Stopping."), "it has heard that it is to stop")


def test_the_server_lets_replies_end_and_marks_those_that_take_too_long(mortal_site):
    short = [mortal_site.ask(mortal_site.open_page(), "held-60") for _ in range(7)]
    long = [mortal_site.ask(mortal_site.open_page(), "hang-after-3") for _ in range(3)]
    told_at = time.monotonic()
    tell_to_stop(mortal_site.process)
    mortal_site.upstream.release()
    mortal_site.process.wait()
    GONE.measure(time.monotonic() - told_at)
    assert {mortal_site.wait_for_end(reply)["state"] for reply in short} == {"complete"}
    mortal_site.serve()  # which marks what a machine that stood still kept the first process from storing
    for reply in long:
        ended = mortal_site.wait_for_end(reply)
        assert (ended["state"], ended["content"]) == ("interrupted", "word0 word1 word2")


def test_a_worker_on_its_own_ends_what_it_makes_and_leaves_what_comes_after(parted_site):
    worker = parted_site.run_worker()
    pages = [parted_site.open_page() for _ in range(4)]
    begun = [parted_site.ask(page, "held-60") for page in pages[:3]]
    tell_to_stop(worker)
    parted_site.answer_with("ok")
    later = pages[3].ask()
    parted_site.upstream.release()
    assert worker.wait() == 0
    assert {parted_site.wait_for_end(reply)["state"] for reply in begun} == {"complete"}
    assert parted_site.database.value(UNCLAIMED, later)
    parted_site.run_worker()
    assert parted_site.wait_for_end(later)["state"] == "complete"


@pytest.mark.parametrize("command", ["serve", "run_worker"])
def test_a_process_whose_words_no_one_reads_any_more_lets_its_replies_end(new_site, command):
    site = new_site(RUN_WORKER="off")
    if command == "run_worker":
        site.serve()
    collector = LogCollector(site.log)
    process = site.start(command, collector=collector, RUN_WORKER="on")
    reply = site.ask(site.open_page(), "held-60")
    collector.kill()
    process.terminate()
    wait_for(lambda: not process.lives or site.database.value(NO_WORKER), "it takes no more replies")
    site.upstream.release()
    process.wait()
    assert site.database.value(STATE, reply) == "complete"
