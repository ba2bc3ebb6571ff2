"""PostgreSQL goes away in the middle of replies and comes back; the site is not restarted."""

from __future__ import annotations

import json
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest

from tests.support.patience import wait_for

from .conftest import ROUNDS, checked, with_tools
from .databases import TERMINATE
from .sites import Site

TERMINATE_BLOCKED = """
SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted AND relation = 'accounts_session'::regclass
"""
OUTAGE_SECONDS = 3 if ROUNDS == 1 else 12
STANDSTILL_SECONDS = 9 if ROUNDS == 1 else 13  # an answer is waited for 8, and a lease holds for 10
MOST_LOG_BYTES = 20_000
FULL_DISK = """
CREATE SEQUENCE refused_writes;
CREATE FUNCTION refuse_for_disk_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM nextval('refused_writes');
  RAISE EXCEPTION 'could not extend file "base/16386/17012": No space left on device' USING ERRCODE = 'disk_full';
END $$
"""
WRITTEN_TABLES = (
    "conversations_run", "conversations_message", "conversations_completion", "conversations_workerheartbeat",
)  # fmt: skip
COUNT = {"name": "count_up", "arguments": {"note": "a", "waits": True}}


@pytest.fixture(scope="module")
def frail_site(frail_server, upstream, tmp_path_factory, notes_file):
    folder = tmp_path_factory.mktemp("site")
    site = Site(frail_server.database, upstream, folder, **with_tools(notes_file))
    site.serve()
    yield site
    site.end()


@pytest.fixture
def site(frail_site):
    with checked(frail_site):
        yield frail_site


@pytest.fixture
def page(site):
    return site.open_page()


def begin(site, page, chance):
    """Return a reply that goes on until it is let end, and how much of its text is known."""
    site.answer_with("endless")
    reply = page.ask()
    return reply, len(page.wait_for_text(reply, chance.randint(1, 400)))


def check_all_is_there(site, page, reply):
    """Let the reply end; all that the provider has said is stored and shown."""
    assert site.let_end(reply)["state"] == "complete"
    assert page.wait_for_end(reply)["state"] == "complete"
    assert page.texts[reply].text == site.wait_for_end(reply)["content"] == site.emitted()


def test_a_reply_survives_the_end_of_all_connections(site, page, chance):
    reply, length = begin(site, page, chance)
    site.database.rows(TERMINATE, site.database.name)
    page.wait_for_text(reply, length + 600)
    check_all_is_there(site, page, reply)


def test_messages_can_be_sent_after_the_end_of_all_connections(site, page):
    site.answer_with("ok")
    for _ in range(3):
        site.database.rows(TERMINATE, site.database.name)
        assert page.wait_for_end(page.ask())["state"] == "complete"


def test_a_request_that_can_not_read_its_session_is_told_so(site):
    browser, said_before = site.browser, len(site.log.read_text())
    with psycopg.connect(dbname=site.database.name, **site.database.address) as connection:
        connection.execute("LOCK TABLE accounts_session IN ACCESS EXCLUSIVE MODE")
        with ThreadPoolExecutor() as threads:
            answer = threads.submit(browser.json, "/estimate/", content="Hello")
            while not answer.done():
                site.database.rows(TERMINATE_BLOCKED)
            status, told = answer.result()
    assert (status, told["code"]) == (503, "unavailable")
    assert "Traceback" not in site.log.read_text()[said_before:]


def test_a_reply_survives_a_killed_database(site, page, frail_server, chance):
    reply, length = begin(site, page, chance)
    frail_server.kill()
    page.wait_for_text(reply, length + 600)
    frail_server.start()
    check_all_is_there(site, page, reply)


def test_a_reply_that_ends_while_the_database_is_away_is_written_down_later(site, page, frail_server, chance):
    reply, _ = begin(site, page, chance)
    frail_server.kill()
    site.upstream.release()
    assert site.upstream.wait_until_ended()["ended"] == "complete"
    page.wait_for_text(reply, len(site.emitted()))
    frail_server.start()
    check_all_is_there(site, page, reply)
    assert site.ledger(reply)[0]["usage_estimated"] is False


def test_a_call_that_ends_while_the_database_is_away_is_written_down_later_and_not_run_again(
    site, page, frail_server, notes
):
    notes.hold()
    site.give_tools("count_up")
    site.answer_with("tools-script")
    reply = page.ask(json.dumps({"calls": [[COUNT], [COUNT | {"arguments": {"note": "b"}}]], "answer": "That is two."}))
    wait_for(lambda: notes.lines, "the first call is running")
    frail_server.kill()
    said_before = site.log.stat().st_size
    notes.let_go()
    wait_for(lambda: b"database did not answer" in site.log.read_bytes()[said_before:], "its end could not be stored")
    frail_server.start()
    ended = site.wait_for_end(reply)
    assert (ended["state"], ended["content"]) == ("complete", "That is two.")
    assert notes.lines == ["a", "b"]


@contextmanager
def killed(site, frail_server):
    frail_server.kill()
    yield
    frail_server.start()


@contextmanager
def disk_full(site, frail_server):
    """Answer each write as PostgreSQL does when its disk has no room; only root could fill a real one."""
    site.database.rows(FULL_DISK)
    for table in WRITTEN_TABLES:
        site.database.rows(
            f"CREATE TRIGGER disk_full BEFORE INSERT OR UPDATE ON {table} EXECUTE FUNCTION refuse_for_disk_full()"
        )
    yield
    wait_for(lambda: site.database.value("SELECT last_value FROM refused_writes") >= 5, "writes are refused")
    site.database.rows("DROP FUNCTION refuse_for_disk_full() CASCADE")
    site.database.rows("DROP SEQUENCE refused_writes")


@pytest.mark.parametrize("outage", [killed, disk_full])
def test_two_outages_are_a_few_lines_of_log(site, frail_server, outage):
    replies = [site.ask(site.open_page(), "endless-40") for _ in range(10)]
    said_before = site.log.stat().st_size
    for _ in range(2):
        with outage(site, frail_server):
            time.sleep(OUTAGE_SECONDS)
        renewed = "SELECT count(*) FROM conversations_run WHERE lease_until > now() + interval '8 seconds'"
        wait_for(lambda: site.database.value(renewed) == len(replies), "all leases are renewed")  # noqa: B023
    site.upstream.release()
    assert {site.wait_for_end(reply)["state"] for reply in replies} == {"complete"}
    said = site.log.read_text()[said_before:]
    assert len(said.encode()) < MOST_LOG_BYTES, said


def test_a_database_that_stands_still_for_longer_than_a_lease_interrupts_no_reply(site, frail_server):
    """Two processes then find all leases over; the one that only waited keeps its runs, and stores how they ended."""
    site.run_worker()
    replies = [site.ask(site.open_page(), "held-60") for _ in range(6)]
    with frail_server.paused():
        site.upstream.release()  # so all of them end meanwhile
        time.sleep(STANDSTILL_SECONDS)
    try:
        assert {site.wait_for_end(reply)["state"] for reply in replies} == {"complete"}
        rows = [row for reply in replies for row in site.ledger(reply)]
        assert [(row["error_code"], row["usage_estimated"]) for row in rows] == [("", False)] * len(replies)
    finally:
        site.end_workers()


def test_a_message_sent_while_the_database_is_away_is_refused_and_can_be_sent_again(site, page, frail_server):
    site.answer_with("ok")
    client_id = str(uuid.uuid4())
    frail_server.kill()
    content = page.post(client_id=client_id)
    # By whether a connection of the pool was lost or waited for.
    assert page.answer()["code"] in {"unavailable", "site_busy"}
    frail_server.start()
    stored = wait_for(lambda: sent_again(page, content, client_id), "the database is found again")
    assert page.wait_for_end(stored["reply"])["state"] == "complete"
    assert site.database.value("SELECT count(*) FROM conversations_message WHERE content = %s", content) == 1


def sent_again(page, content, client_id):
    """Send it once more; returns the acknowledgement, or None as long as it is refused."""
    page.post(content, client_id=client_id)
    answer = page.answer()
    return answer if answer["type"] == "message.stored" else None
