"""SIGTERM in the middle of ten replies: what can end does, the rest is marked, and the process is gone in time."""

from __future__ import annotations

import time

GONE_WITHIN_SECONDS = 30


def test_the_server_lets_replies_end_and_marks_those_that_take_too_long(new_site):
    site = new_site()
    process = site.serve()
    browser = site.sign_up()
    short = [site.ask(site.open_page(browser), "paced-200-10") for _ in range(7)]
    long = [site.ask(site.open_page(browser), "endless") for _ in range(3)]
    process.terminate()
    told_at = time.monotonic()
    process.wait(seconds=GONE_WITHIN_SECONDS + 5)
    assert time.monotonic() - told_at < GONE_WITHIN_SECONDS
    assert {site.wait_for_end(reply)["state"] for reply in short} == {"complete"}
    assert {site.wait_for_end(reply)["state"] for reply in long} == {"interrupted"}


def test_a_worker_on_its_own_ends_what_it_makes_and_leaves_what_comes_after(new_site):
    site = new_site(RUN_WORKER="off")
    site.serve()
    worker = site.run_worker()
    browser = site.sign_up()
    pages = [site.open_page(browser) for _ in range(4)]
    begun = [site.ask(page, "paced-200-10") for page in pages[:3]]
    worker.terminate()
    later = pages[3].ask()
    assert worker.wait(seconds=GONE_WITHIN_SECONDS) == 0
    assert {site.wait_for_end(reply)["state"] for reply in begun} == {"complete"}
    site.run_worker()
    assert site.wait_for_end(later)["state"] == "complete"
