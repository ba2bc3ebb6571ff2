"""Workers are killed: what had not begun is made again by another, what had text is kept, and none streams for ever."""

from __future__ import annotations

import time

from tests.support.patience import wait_for

from .goals import ENDED_WITHOUT_WORKER, TAKEN_UP_AGAIN, TOLD_WITHOUT_WORKER

AT_ONCE = 5
ALIVE = "SELECT count(*) FROM conversations_workerheartbeat WHERE seen_at > now() - interval '5 seconds'"
STATES = "SELECT worker, count(*) AS runs FROM conversations_run WHERE state = 'running' GROUP BY worker"
WAITING = "SELECT count(*) FROM conversations_run WHERE state = 'waiting'"
SECOND_ATTEMPTS = "SELECT count(*) FROM conversations_run WHERE attempt = 2 AND reply_id = ANY(%s)"
LENGTH = "SELECT length(content) FROM conversations_message WHERE id = %s"
NO_WORKER = "No worker is running"


def test_replies_without_a_token_are_made_again_by_another_worker(parted_site, chance):
    killed = parted_site.run_worker()
    replies = [parted_site.ask(parted_site.open_page(), "hang-before-times-5") for _ in range(AT_ONCE)]
    parted_site.run_worker()
    killed.kill()
    at = time.monotonic()
    wait_for(
        lambda: parted_site.database.value(SECOND_ATTEMPTS, replies) == AT_ONCE, "another worker has taken them up"
    )
    TAKEN_UP_AGAIN.measure(time.monotonic() - at)
    for reply in replies:
        ended = parted_site.wait_for_end(reply)
        assert (ended["state"], ended["content"]) == ("complete", "Hello from the upstream.")
        assert [row["error_code"] for row in parted_site.ledger(reply)] == ["reply_interrupted", ""]


def test_without_any_worker_a_reply_with_text_ends_and_pages_say_that_none_is_running(parted_site, chance):
    killed = parted_site.run_worker()
    reply = parted_site.ask(parted_site.open_page(), "endless")
    length = chance.randint(1, 400)
    wait_for(lambda: parted_site.database.value(LENGTH, reply) >= length, "some of it is stored")
    killed.kill()
    at = time.monotonic()
    page = parted_site.open_page()
    parted_site.answer_with("ok")
    later = page.ask()
    wait_for(lambda: NO_WORKER in parted_site.browser.sync(page.conversation)[-1]["html"], "the page says so")
    TOLD_WITHOUT_WORKER.measure(time.monotonic() - at)
    ended = parted_site.wait_for_end(reply)
    ENDED_WITHOUT_WORKER.measure(time.monotonic() - at)
    assert (ended["state"], len(ended["content"]) >= length) == ("interrupted", True)
    assert page.browser.stop(page.conversation, later) == 200
    assert parted_site.wait_for_end(later)["state"] == "stopped"


def test_of_twelve_waiting_runs_no_worker_takes_more_than_its_share(parted_site):
    parted_site.database.rows("DELETE FROM conversations_workerheartbeat")
    parted_site.run_worker(), parted_site.run_worker()
    wait_for(lambda: parted_site.database.value(ALIVE) == 2, "both workers are alive")
    parted_site.answer_with("endless-40")
    for _ in range(12):
        parted_site.open_page().ask()
    wait_for(lambda: parted_site.database.value(WAITING) == 0, "all are claimed")
    taken = [row["runs"] for row in parted_site.database.rows(STATES)]
    assert sum(taken) == 12
    assert max(taken) <= 7
    # A request that arrived after the provider is told to let all end would never end.
    wait_for(lambda: len(parted_site.upstream.log()) == 12, "the provider has all requests")
