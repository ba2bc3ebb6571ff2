"""The log's disk has no room left: every word to standard output or error is refused. That ends no process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from tests.support.patience import PATIENCE_SECONDS, wait_for
from tests.support.source import PROJECT

from .databases import TERMINATE

FULL = Path("/dev/full")  # the device that answers each write as a full disk does
ENDED = (0, -signal.SIGTERM)  # uvicorn's own way


@contextmanager
def started(site, command):
    """Start `manage.py COMMAND` of *site*, whose words have nowhere to go."""
    arguments, environment = [sys.executable, "manage.py", command], os.environ | site.settings
    with FULL.open("ab") as full:
        process = subprocess.Popen(arguments, cwd=PROJECT, env=environment, stdout=full, stderr=full)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def has_ended(process):
    return process.poll() is not None


def answers(site):
    try:
        with urllib.request.urlopen(site.address + "/healthz", timeout=PATIENCE_SECONDS):
            return True
    except OSError:
        return False


@contextmanager
def without_error(process):
    """Have *process* go on in the block, and end without an error when it is told to."""
    yield
    assert process.poll() is None
    process.terminate()
    assert process.wait(PATIENCE_SECONDS) in ENDED


def ask_for_what_is_logged(site):
    for number in range(20):
        site.browser.request("/accounts/login/", login=f"{number}@example.org", password="wrong")
    site.database.rows(TERMINATE, site.database.name)


def make_reply(site):
    """Have one made while there is much to log."""
    page = site.open_page()
    reply = site.ask(page, "endless-20")
    ask_for_what_is_logged(site)
    assert site.let_end(reply)["state"] == "complete"
    page.sync()
    assert page.wait_for_end(reply)["state"] == "complete"


def test_a_web_process_and_a_worker_whose_log_has_no_room_go_on(new_site):
    site = new_site(RUN_WORKER="off")
    with started(site, "serve") as server, started(site, "run_worker") as worker:
        wait_for(lambda: has_ended(server) or answers(site), "the site is served")
        with without_error(server), without_error(worker):
            make_reply(site)
