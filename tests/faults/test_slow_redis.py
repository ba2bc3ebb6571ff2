"""Redis is slow in mid reply: it answers nothing for five seconds, or the way to it takes half a second.

Live text comes later then, and nothing else is different: no request waits for Redis.
"""

from __future__ import annotations

import time
import uuid

import pytest
import redis as redis_client

from tests.support.patience import wait_for

from .browsers import Browser
from .conftest import checked
from .goals import ANSWERED_WITHOUT_REDIS, HEARD_AGAIN
from .network import ForgetfulProxy
from .processes import RedisProcess

pytestmark = pytest.mark.redis
PAUSE_MS = 5_000
AT_ONCE_SECONDS = 0.2
TRIES = 5
DELAY_SECONDS = 0.5
CONTENT = "SELECT content FROM conversations_message WHERE id = %s"


@pytest.fixture(scope="module")
def redis(redis_server_path):
    process = RedisProcess(redis_server_path)
    yield process
    process.kill()


@pytest.fixture(scope="module")
def proxy(redis):
    proxy = ForgetfulProxy(redis.port)
    yield proxy
    proxy.close()


@pytest.fixture(scope="module")
def slow_site(make_site, proxy):
    """A site of two web processes and a worker, all of which reach Redis over the proxy."""
    with make_site(RUN_WORKER="off", REDIS_URL=f"redis://127.0.0.1:{proxy.port}/0") as site:
        site.serve()
        beside = site.serve_beside()
        site.run_worker()
        site.browsers = [site.browser, Browser(beside, cookies=site.browser)]
        yield site


@pytest.fixture
def site(slow_site):
    with checked(slow_site):
        yield slow_site


class Pause:
    """Redis answers nothing for five seconds, again and again until `end`."""

    def __init__(self, redis, proxy) -> None:
        self._redis = redis

    def go_on(self) -> None:
        if not self.goes_on():
            with redis_client.Redis.from_url(self._redis.url) as admin:
                admin.execute_command("CLIENT", "PAUSE", PAUSE_MS, "ALL")

    def goes_on(self) -> bool:
        return not self._redis.answers(seconds=AT_ONCE_SECONDS)

    def end(self) -> None:
        wait_for(self._redis.answers, "the pause is over")


class Delay:
    """Each piece on the way to Redis, and back, takes half a second, until `end`."""

    def __init__(self, redis, proxy) -> None:
        self._proxy = proxy

    def go_on(self) -> None:
        self._proxy.delay_seconds = DELAY_SECONDS

    def goes_on(self) -> bool:
        return self._proxy.delay_seconds > 0

    def end(self) -> None:
        self._proxy.delay_seconds = 0.0


@pytest.fixture(params=[Pause, Delay])
def slowness(request, redis, proxy):
    slowness = request.param(redis, proxy)
    yield slowness
    slowness.end()


@pytest.fixture
def talks(site):
    """A page at each web process, with a reply that streams, live, for as long as the test takes."""
    site.answer_with("endless-20")
    pages = [site.open_page(browser) for browser in site.browsers]
    replies = [site.ask(page, "endless-20") for page in pages]
    for page, reply in zip(pages, replies, strict=True):
        page.wait_for_text(reply, 50)
        wait_for(page.is_told_live, "all is heard")
    return list(zip(pages, replies, strict=True))


def answer_of(step, slowness):
    """Do what *step* says while Redis is slow, and return its answer, which must not wait until it is quick again."""
    for _ in range(TRIES):
        slowness.go_on()
        began = time.monotonic()
        answer = step()
        seconds = time.monotonic() - began
        if slowness.goes_on():
            ANSWERED_WITHOUT_REDIS.measure(seconds)
            return answer
    raise AssertionError(f"it was answered after {seconds} s, when Redis was quick again, each time")


def use(site, browser, slowness):
    """Do what people do; returns the replies to two new messages."""
    answer_of(lambda: Browser(browser.address).sign_in(browser.person), slowness)
    status, _ = answer_of(lambda: browser.request(f"/c/{site.begin()}/"), slowness)
    assert status == 200
    status, stored = answer_of(lambda: browser.post(site.begin(), f"By HTTP, {uuid.uuid4()}"), slowness)
    assert status == 201
    return [stored["reply"], answer_of(lambda: site.open_page(browser).ask(), slowness)]


def test_pages_go_on_and_nothing_is_lost(site, talks, slowness, chance):
    site.answer_with("ok")
    time.sleep(chance.random())  # at any point of what processes say over Redis
    asked = []
    for browser, (page, reply) in zip(site.browsers, talks, strict=True):
        asked += use(site, browser, slowness)
        length = len(site.database.value(CONTENT, reply))
        slowness.go_on()
        page.sync()
        page.wait_for_new_text(reply, length)
    slowness.end()
    ended_at = time.monotonic()
    for page, _ in talks:
        page.hear_out()  # what was under way
        wait_for(lambda page=page: page.is_told_live() and page.hears_live(), "live text comes again")
        HEARD_AGAIN.measure(time.monotonic() - ended_at)
    for reply in asked:
        assert site.wait_for_end(reply)["content"] == "Hello from the upstream."
    site.upstream.release()
    for page, reply in talks:
        assert page.wait_for_end(reply)["state"] == "complete"
        assert page.texts[reply].text == site.wait_for_end(reply)["content"]
