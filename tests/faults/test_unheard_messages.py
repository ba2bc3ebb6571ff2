"""Redis answers, and what processes publish over it does not arrive: forbidden topics, dead connections that stay open.

Live text between processes is dead then. Both processes notice, say so, and are well again without a restart.
"""

from __future__ import annotations

import signal
import time
import urllib.request
import uuid

import pytest
import redis as redis_client

from tests.support.patience import PATIENCE_SECONDS, wait_for

from .browsers import Browser
from .conftest import checked
from .goals import ANSWERED_WITHOUT_REDIS, HEARD_AGAIN, TOLD_UNHEARD
from .network import ForgetfulProxy
from .processes import RedisProcess

pytestmark = pytest.mark.redis
LOST, BACK = "are not heard over Redis", "are heard over Redis again"
PROCESSES = 2  # that listen
BUSY_TIMES = 3
ROUNDS_OF_REQUESTS = 3


@pytest.fixture(scope="module")
def redis(redis_server_path, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("redis") / "socket")
    process = RedisProcess(redis_server_path, "--unixsocket", path, "--enable-debug-command", "local")
    process.socket_path = path
    yield process
    process.kill()


@pytest.fixture(scope="module")
def proxy(redis):
    proxy = ForgetfulProxy(redis.socket_path)
    yield proxy
    proxy.close()


@pytest.fixture(scope="module")
def proxied_site(make_site, proxy):
    """A web process and a worker, which hear each other by Redis over the proxy."""
    with make_site(RUN_WORKER="off", REDIS_URL=f"redis://127.0.0.1:{proxy.port}/0") as site:
        site.serve()
        site.run_worker()
        yield site


@pytest.fixture
def site(proxied_site):
    with checked(proxied_site):
        yield proxied_site


@pytest.fixture
def page(site):
    return site.open_page()


@pytest.fixture
def reply(site, page):
    """A reply that streams, live, for as long as the test takes."""
    site.answer_with("endless-20")
    reply = page.ask()
    page.wait_for_text(reply, 50)
    wait_for(lambda: is_well(site, page), "all is heard")
    return reply


@pytest.fixture
def admin(redis):
    """A client that is never forbidden anything."""
    with redis_client.Redis.from_url(redis.url) as client:
        yield client


@pytest.fixture(params=["forbidden", "swallowed"])
def cause(request, admin, proxy):
    """A function that begins it, and one that ends it."""
    if request.param == "forbidden":
        return (
            lambda: admin.execute_command("ACL", "SETUSER", "default", "resetchannels"),
            lambda: admin.execute_command("ACL", "SETUSER", "default", "allchannels"),
        )
    return proxy.swallow_subscribers, proxy.pass_on


def readiness(site):
    with urllib.request.urlopen(site.address + "/readyz", timeout=PATIENCE_SECONDS) as response:
        return response.read().decode()


def is_well(site, page):
    return readiness(site) == "ready" and page.is_told_live()


def is_told(site, page):
    return readiness(site) == "ready, degraded: redis" and not page.is_told_live()


def wait_until_heard_again(site, page):
    wait_for(lambda: is_well(site, page) and page.hears_live(), "live text comes again")


def lines(site, words, *, since):
    return site.log.read_text()[since:].count(words)


def end(site, page, reply):
    site.upstream.release()
    assert page.wait_for_end(reply)["state"] == "complete"
    assert page.texts[reply].text == site.wait_for_end(reply)["content"] == site.emitted()


def test_messages_that_vanish_are_noticed_and_heard_again(site, page, reply, cause):
    begin_cause, end_cause = cause
    said_before = len(site.log.read_text())
    begin_cause()
    began = time.monotonic()
    try:
        wait_for(lambda: is_told(site, page), "it is told")
        TOLD_UNHEARD.measure(time.monotonic() - began)
        wait_for(lambda: lines(site, LOST, since=said_before) == PROCESSES, "both processes have noticed")
    finally:
        end_cause()
    ended = time.monotonic()
    wait_until_heard_again(site, page)
    wait_for(lambda: lines(site, BACK, since=said_before) == PROCESSES, "both are well again")
    HEARD_AGAIN.measure(time.monotonic() - ended)
    assert lines(site, LOST, since=said_before) == PROCESSES, "each has said it once"
    end(site, page, reply)


@pytest.mark.parametrize("fault", ["killed", "forgotten"])
def test_connections_that_end_or_die_are_replaced(site, page, reply, admin, proxy, fault):
    if fault == "killed":
        assert admin.execute_command("CLIENT", "KILL", "TYPE", "pubsub") >= PROCESSES
    else:
        assert proxy.forget_subscribers() >= PROCESSES
    began = time.monotonic()
    page.hear_out()  # what was under way
    wait_until_heard_again(site, page)
    HEARD_AGAIN.measure(time.monotonic() - began)
    end(site, page, reply)


def test_a_redis_without_memory_changes_nothing(site, page, reply, admin):
    admin.config_set("maxmemory", 1)
    try:
        with pytest.raises(redis_client.exceptions.OutOfMemoryError):
            admin.set("anything", "is refused")
        page.hear_out()  # what was under way
        wait_for(lambda: page.hears_live(), "live text goes on")
        other = site.open_page()
        following = other.ask()
        other.wait_for_text(following, 50)
        assert is_well(site, page)
        end(site, other, following)
        assert page.wait_for_end(reply)["state"] == "complete"
        assert page.texts[reply].text == site.wait_for_end(reply)["content"]
    finally:
        admin.config_set("maxmemory", 0)


def test_a_redis_that_is_busy_for_a_second_is_no_alarm(site, page, reply, admin):
    said_before = len(site.log.read_text())
    for _ in range(BUSY_TIMES):
        admin.execute_command("DEBUG", "SLEEP", "1")
    wait_until_heard_again(site, page)
    assert not lines(site, LOST, since=said_before)
    end(site, page, reply)


def test_no_request_waits_for_a_redis_that_stands_still(site, page, redis):
    site.answer_with("ok")
    wait_for(lambda: is_well(site, page), "all is heard")
    redis.process.send_signal(signal.SIGSTOP)
    try:
        for _ in range(ROUNDS_OF_REQUESTS):
            for answered in (sign_up, sign_in, read_conversation, post):
                began = time.monotonic()
                answered(site, page)
                ANSWERED_WITHOUT_REDIS.measure(time.monotonic() - began)
            site.wait_until_quiet()
    finally:
        redis.process.send_signal(signal.SIGCONT)
    wait_for(lambda: is_well(site, page), "all is heard again")


def sign_up(site, page):
    Browser(site.address).sign_up(f"{uuid.uuid4().hex[:8]}@example.org")  # reads the form, too


def sign_in(site, page):
    Browser(site.address).sign_in(site.browser.person)


def read_conversation(site, page):
    status, _ = site.browser.request(f"/c/{page.conversation}/")
    assert status == 200


def post(site, page):
    page.ask()
