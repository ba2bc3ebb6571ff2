"""The disk of the database has no room left: its data lie on a small file system in memory, which a file fills.

Only root may mount one, so `make faults` runs this. `make test` has what PostgreSQL answers then: `test_database_away`.
"""

from __future__ import annotations

import secrets
import subprocess
import time
import urllib.error
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from chatsite.postgres.embedded.errors import PostgresDidNotStart
from conversations.core.errors.base import DatabaseAway
from tests.browser.conftest import PATIENCE_MS
from tests.browser.page_actions import composer, replies, write
from tests.support.patience import PATIENCE_SECONDS, wait_for

from .chromium import open_in_chromium
from .conftest import checked
from .frail_server import run_frail_server
from .goals import READINESS, READY_WITH_ROOM
from .sites import Site

DISK = "size=320m"
REPLIES = 6
SENDERS = 3
OUTAGES = 2
OUTAGE_SECONDS = 10
LONG_TEXT = 20_000  # that PostgreSQL can't compress: a few of these need room
MOST_LOG_BYTES = 20_000
MOST_TAKEN = 500  # messages, 10 MB, in room that the database has left in its files
# Where PostgreSQL has no room for its log of changes, it ends.
TOLD = ("the database's disk is full", "the database does not answer")


class SmallDisk:
    """The file system at *folder*, and the file that fills it."""

    def __init__(self, folder):
        self.folder, self._filler = folder, folder / "filler"

    def fill(self):
        """Take all the room there is, also what is freed meanwhile: by a few bytes at a time in the end."""
        with self._filler.open("ab", buffering=0) as file:
            for size in (2**20, 4_096):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError:
                    pass

    def make_room(self):
        self._filler.unlink()


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("disk")
    subprocess.run(["mount", "-t", "tmpfs", "-o", DISK, "tmpfs", folder], check=True)
    folder.chmod(0o711)  # PostgreSQL runs as another account
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture(scope="module")
def full_server(disk):
    with run_frail_server(disk.folder) as server:
        yield server


@pytest.fixture(scope="module")
def small_site(full_server, upstream, tmp_path_factory):
    """A web process and a worker, whose database is on the small disk."""
    site = Site(full_server.database, upstream, tmp_path_factory.mktemp("site"), RUN_WORKER="off")
    site.serve()
    site.run_worker()
    yield site
    site.end()


@pytest.fixture
def site(small_site):
    with checked(small_site):
        yield small_site


@pytest.fixture
def no_room(disk, full_server):
    """A block in which the disk is full. What PostgreSQL does then is its own: where it ends, it is started again."""

    @contextmanager
    def fill():
        disk.fill()
        try:
            yield
        finally:
            disk.make_room()
            wait_for(lambda: starts(full_server), "PostgreSQL runs")

    return fill


def starts(server):
    try:
        server.start()
    except PostgresDidNotStart:
        return False
    return True


def readiness(site):
    began = time.monotonic()
    try:
        with urllib.request.urlopen(site.address + "/readyz", timeout=PATIENCE_SECONDS) as response:
            answer = response.read().decode()
    except urllib.error.HTTPError as error:
        answer = error.read().decode()
    READINESS.measure(time.monotonic() - began)
    return answer


def differs(readiness):
    return "" if readiness.startswith("ready") else readiness


def send_until_refused(page):
    """Send messages, all but the first in new conversations, until one is refused, and return how that was told."""
    page.post(secrets.token_hex(LONG_TEXT // 2))
    answer = page.answer()
    for _ in range(MOST_TAKEN):
        if "code" in answer:
            return answer
        _, answer = page.browser.post(str(uuid.uuid4()), secrets.token_hex(LONG_TEXT // 2))
    raise AssertionError("messages are taken, though the disk is full")


def test_replies_go_on_when_the_disk_of_the_database_was_full(site, disk, no_room, chance):
    """Meanwhile people send until they are refused; what was acknowledged is there, and nothing is billed twice."""
    said_before = site.log.stat().st_size
    pages = [site.open_page() for _ in range(REPLIES)]
    old = site.ask(pages[0], "ok")
    assert site.wait_for_end(old)["state"] == "complete"
    running = [site.ask(page, ("held-60", "endless-20")[number % 2]) for number, page in enumerate(pages)]
    people = [site.sign_up() for _ in range(SENDERS)]
    site.answer_with("ok")
    for _ in range(OUTAGES):
        senders = [site.open_page(person) for person in people]  # where no reply is being written
        with no_room():
            until = time.monotonic() + OUTAGE_SECONDS
            with ThreadPoolExecutor(SENDERS) as threads:
                refused = list(threads.map(send_until_refused, senders))
            assert {answer["code"] for answer in refused} <= {"unavailable", "site_busy"}, refused
            told = wait_for(lambda: differs(readiness(site)), "health says so")
            assert told in TOLD, told
            status, text = site.browser.request(f"/c/{pages[0].conversation}/")
            assert status == 200, text
            assert "Hello from the upstream." in text
            disk.fill()
            while time.monotonic() < until:
                readiness(site)
                time.sleep(0.5)
        began = time.monotonic()
        wait_for(lambda: readiness(site) == "ready", "the site is ready")
        READY_WITH_ROOM.measure(time.monotonic() - began)
        for sender in [site.open_page(person) for person in people]:
            sender.post()
            assert sender.answer()["type"] == "message.stored"
    site.upstream.release()
    assert [site.wait_for_end(reply)["state"] for reply in running] == ["complete"] * REPLIES
    rows = [row for reply in running for row in site.ledger(reply)]
    assert [(row["error_code"], row["usage_estimated"]) for row in rows] == [("", False)] * REPLIES
    said = site.log.read_text()[said_before:]
    assert len(said.encode()) < MOST_LOG_BYTES, said


def write_until_refused(page):
    """Write messages on a page without a conversation until one is refused, and return that one.

    The database may have left room for some in its files.
    """
    refused = page.get_by_text(DatabaseAway.template).or_(page.get_by_text("Your text is safe; try again."))
    for _ in range(MOST_TAKEN):
        typed = secrets.token_hex(LONG_TEXT // 2)
        write(page, typed)
        expect(refused.or_(replies(page)).first).to_be_visible(timeout=PATIENCE_MS)
        if refused.count():
            return typed
        page.goto("/")
    raise AssertionError("messages are taken, though the disk is full")


@pytest.mark.browser
def test_what_was_typed_stays_when_there_is_no_room_for_it(site, no_room, chromium_path):
    site.answer_with("ok")
    sender = site.open_page(site.sign_up())
    with open_in_chromium(chromium_path, site.browser) as shown:
        shown.goto("/")
        composer(shown).wait_for()
        with no_room():
            send_until_refused(sender)
            typed = write_until_refused(shown)
            assert composer(shown).input_value() == typed
        wait_for(lambda: readiness(site) == "ready", "the site is ready")
        composer(shown).press("Enter")
        expect(replies(shown)).to_have_count(1, timeout=PATIENCE_MS)
        expect(replies(shown).last).to_contain_text("Hello from the upstream.", timeout=PATIENCE_MS)
    assert site.database.value("SELECT count(*) FROM conversations_message WHERE content = %s", typed) == 1
