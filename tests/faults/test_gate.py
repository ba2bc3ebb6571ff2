"""Rights that are lost while replies are made on two processes: nothing reaches those people two seconds later.

The clock starts before the statement that takes the right away, so what is measured is never too short.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
from websockets.exceptions import ConnectionClosed

from tests.support.patience import wait_for

from .browsers import Browser
from .conftest import checked
from .goals import LAST_CONNECTION, LAST_DELTA, LAST_SOCKET
from .pages import Page
from .processes import RedisProcess

pytestmark = pytest.mark.redis
REPLIES = 20
SHUT_GATE = "INSERT INTO accounts_gate (singleton, mode, contact) VALUES (true, 'shared', '') ON CONFLICT DO NOTHING"
SET_PASSWORD = """
INSERT INTO accounts_gatepassword (hash, version, set_at) SELECT '!', gen_random_uuid(), now()
WHERE NOT EXISTS (SELECT FROM accounts_gatepassword)
"""
LET_IN = """
INSERT INTO accounts_gateentry (user_id, version, unlocked_at, seated_at)
SELECT person.id, password.version, now(), now() FROM accounts_user person, accounts_gatepassword password
ON CONFLICT (user_id) DO UPDATE SET version = excluded.version
"""
ROTATE = "UPDATE accounts_gatepassword SET version = gen_random_uuid()"
BLOCK = "UPDATE accounts_user SET gate_rule = 'blocked'"
DEACTIVATE = "UPDATE accounts_user SET is_active = false"
LENGTHS = "SELECT length(content) FROM conversations_message WHERE id = ANY(%s) ORDER BY id"
FORGIVE = "UPDATE accounts_user SET gate_rule = 'site', is_active = true"


@pytest.fixture(scope="module")
def two_processes(make_site, redis_server_path) -> Iterator:
    """A site of two web processes, each with a worker; pages are open at both."""
    redis = RedisProcess(redis_server_path)
    with make_site(REDIS_URL=redis.url, REPLIES_AT_ONCE=str(REPLIES // 2)) as site:
        site.serve()
        second = site.serve_beside()
        site.browsers = [site.browser, Browser(second, cookies=site.browser)]
        yield site
    redis.kill()


@pytest.fixture
def site(two_processes):
    with checked(two_processes):
        yield two_processes


@pytest.fixture
def pages(site) -> list[Page]:
    """Pages of one person at both processes, inside the gate."""
    if "sessionid" not in site.browser.cookies:
        site.browser.sign_in(site.browser.person)
    for statement in (SHUT_GATE, SET_PASSWORD, LET_IN):
        site.database.rows(statement)
    return [site.open_page(site.browsers[number % 2]) for number in range(REPLIES)]


@dataclass
class Heard:
    """What came to a page until its socket was closed. Times are those of the monotonic clock."""

    deltas: list[float] = field(default_factory=list)
    closed_at: float = 0.0
    code: int | None = None


def listen(page: Page) -> Heard:
    heard = Heard()
    try:
        while True:
            if page.next()["type"] == "reply.delta":
                heard.deltas.append(time.monotonic())
    except ConnectionClosed as closed:
        heard.closed_at, heard.code = time.monotonic(), closed.rcvd and closed.rcvd.code
    return heard


def begin_replies(site, pages: list[Page]) -> list[int]:
    """Let all pages ask, and return their replies once words of each have come."""
    site.answer_with("endless-40")
    replies = [page.ask() for page in pages]
    for page, reply in zip(pages, replies, strict=True):
        page.wait_for_text(reply)
    return replies


def while_all_listen(site, pages: list[Page], shut_out: Callable[[], object]) -> tuple[float, float, list[Heard]]:
    """Take the right away while every page listens; return both clocks before it, and what was heard."""
    with ThreadPoolExecutor(len(pages)) as pool:
        listening = [pool.submit(listen, page) for page in pages]
        # Each listens, and words come: it falls into running streams.
        before = [len(page.frames) for page in pages]
        wait_for(lambda: all_above(before, [len(page.frames) for page in pages]), "all pages hear something")
        monotonic, unix = time.monotonic(), time.time()
        shut_out()
        refused_at_once(site, pages)
        return monotonic, unix, [each.result() for each in listening]


def all_above(before: list[int], now: list[int]) -> bool:
    return all(count > once for once, count in zip(before, now, strict=True))


def refused_at_once(site, pages: list[Page]) -> None:
    """A message that is sent right after it is refused, at both processes, and stored nowhere."""
    for page in pages[:2]:
        content = f"One more thing {uuid.uuid4().hex[:8]}"
        status, answer = page.browser.post(page.conversation, content)
        assert status in (401, 403), answer
        assert not site.database.rows("SELECT FROM conversations_message WHERE content = %s", content)


def check_nothing_came_late(since: float, heard: list[Heard]) -> None:
    LAST_DELTA.measure(max(max(each.deltas, default=since) for each in heard) - since)
    LAST_SOCKET.measure(max(each.closed_at for each in heard) - since)


def check_provider_was_left(site, since: float) -> None:
    exchanges = wait_for(lambda: [] if any(e["ended"] == "open" for e in site.upstream.log()) else site.upstream.log())
    assert {exchange["ended"] for exchange in exchanges} == {"disconnected"}
    LAST_CONNECTION.measure(max(exchange["ended_at"] for exchange in exchanges) - since)


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        pytest.param(ROTATE, 4403, id="rotated"),
        pytest.param(BLOCK, 4403, id="blocked"),
        pytest.param(DEACTIVATE, 4401, id="deactivated"),
    ],
)
def test_nothing_reaches_people_who_are_shut_out(site, pages, chance, statement, code):
    replies = begin_replies(site, pages)
    makers = site.database.rows("SELECT DISTINCT worker FROM conversations_run WHERE reply_id = ANY(%s)", replies)
    assert len(makers) == 2
    monotonic, unix, heard = while_all_listen(site, pages, lambda: site.database.rows(statement))
    check_nothing_came_late(monotonic, heard)
    check_provider_was_left(site, unix)
    assert {each.code for each in heard} == {code}
    for reply in replies:
        ended = site.wait_for_end(reply)
        assert (ended["state"], ended["error_code"]) == ("stopped", "reply_access_revoked")
        assert ended["content"]
    site.database.rows(FORGIVE)


def lengths(site, replies: list[int]) -> list[int]:
    return [row["length"] for row in site.database.rows(LENGTHS, replies)]


def test_who_signs_out_hears_nothing_more_and_loses_nothing(site, pages, chance):
    replies = begin_replies(site, pages)
    monotonic, _, heard = while_all_listen(site, pages, site.browser.sign_out)
    check_nothing_came_late(monotonic, heard)
    assert {each.code for each in heard} == {4401}
    written = lengths(site, replies)
    wait_for(lambda: all_above(written, lengths(site, replies)), "all replies go on")
    for reply in replies:
        assert site.let_end(reply)["state"] == "complete"
