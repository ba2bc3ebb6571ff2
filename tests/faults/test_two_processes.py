"""The web process and the worker apart, without Redis and with it: each may die alone."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE_MS
from tests.browser.page_actions import replies, streaming, write
from tests.support.patience import wait_for

from .chromium import open_in_chromium
from .conftest import checked
from .goals import RESUMED_AFTER_RESTART, STOPPED_AT_PROVIDER
from .pages import shown_text
from .processes import RedisProcess

REDIS = pytest.param("with Redis", marks=pytest.mark.redis)
WITH_REDIS = pytest.mark.parametrize("split_site", [REDIS], indirect=True)


@pytest.fixture(scope="module", params=["without Redis", REDIS])
def split_site(request, make_site):
    """A site whose web process makes no replies; `redis` is None without it."""
    redis = RedisProcess(request.getfixturevalue("redis_server_path")) if request.param == "with Redis" else None
    with make_site(RUN_WORKER="off", **({"REDIS_URL": redis.url} if redis else {})) as site:
        site.redis = redis
        site.serve()
        site.run_worker()
        yield site
    if redis:
        redis.kill()


@pytest.fixture
def site(split_site):
    with checked(split_site):
        yield split_site


@pytest.fixture
def page(site):
    return site.open_page()


def stored_length(site, page):
    return site.browser.sync(page.conversation)[-1]["length"]


def wait_for_some_text(site, page, reply, length):
    """Live, if the processes have Redis between them; else by asking, as a page does."""
    if site.redis:
        page.wait_for_text(reply, length)
    wait_for(lambda: stored_length(site, page) >= length, "some text is stored")


def test_the_reply_comes_from_the_other_process(site, page):
    site.answer_with("endless-20")
    reply = page.ask()
    wait_for_some_text(site, page, reply, 50)
    assert site.let_end(reply)["state"] == "complete"
    page.sync()
    assert page.wait_for_end(reply)["state"] == "complete"


def test_stop_reaches_the_other_process_within_a_second(site, page):
    site.answer_with("endless")
    reply = page.ask()
    wait_for_some_text(site, page, reply, 50)
    asked_at = time.time()
    page.stop(reply)
    STOPPED_AT_PROVIDER.measure(site.upstream.wait_until_ended()["ended_at"] - asked_at)
    assert site.wait_for_end(reply)["state"] == "stopped"


def test_a_killed_web_process_does_not_end_the_reply(site, page, chance):
    site.answer_with("endless-20")
    reply = page.ask()
    wait_for_some_text(site, page, reply, chance.randint(1, 500))
    emitted = len(site.emitted())
    site.process.kill()
    with ThreadPoolExecutor(1) as pool:
        returning = pool.submit(page.come_back, chance)
        site.serve()
        served_at = time.monotonic()
        returning.result()
    RESUMED_AFTER_RESTART.measure(page.wait_for_new_text(reply, emitted) - served_at)
    assert site.let_end(reply)["content"] == site.emitted()
    page.sync()
    assert page.wait_for_end(reply)["state"] == "complete"
    assert shown_text(site.browser.sync(page.conversation)[-1]).startswith(site.emitted())
    assert len(site.ledger(reply)) == 1


@pytest.mark.browser
def test_a_page_shows_the_reply_of_a_process_that_its_socket_cannot_hear(site, page, chromium_path):
    site.answer_with("held-60")
    with open_in_chromium(chromium_path, site.browser) as shown:
        shown.goto(f"/c/{page.conversation}/")
        write(shown, "Tell me about silence")
        expect(streaming(shown)).to_contain_text("word59", timeout=PATIENCE_MS)
        site.upstream.release()
        expect(streaming(shown)).to_have_count(0, timeout=PATIENCE_MS)
        expect(replies(shown)).to_contain_text("word59")


@WITH_REDIS
def test_a_killed_redis_loses_nothing(site, page):
    site.answer_with("endless-20")
    reply = page.ask()
    page.wait_for_text(reply, 50)
    site.redis.kill()
    before = stored_length(site, page)
    wait_for(lambda: stored_length(site, page) > before + 50, "the reply goes on")
    site.redis.start()
    wait_for(page.hears_live, "both processes have come back to Redis")
    site.upstream.release()
    assert page.wait_for_end(reply)["state"] == "complete"
    assert page.texts[reply].text == site.wait_for_end(reply)["content"] == site.emitted()


@WITH_REDIS
def test_messages_can_be_sent_while_redis_is_away(site, page):
    site.answer_with("ok")
    site.redis.kill()
    reply = page.ask()
    assert site.wait_for_end(reply)["state"] == "complete"
    page.sync()
    assert page.wait_for_end(reply)["state"] == "complete"
    status, answer = site.browser.post(page.conversation, "and over HTTP")
    assert status == 201
    site.wait_for_end(answer["reply"])
    site.redis.start()


@WITH_REDIS
@pytest.mark.browser
def test_a_page_says_that_live_text_comes_later_while_redis_is_away(site, page, chromium_path):
    site.answer_with("held-60")
    with open_in_chromium(chromium_path, site.browser) as shown:
        shown.goto(f"/c/{page.conversation}/")
        banner = shown.locator('[data-part="banner"]')
        site.redis.kill()
        write(shown, "Tell me about silence")
        expect(banner).to_contain_text("Live text comes a little later", timeout=PATIENCE_MS)
        site.redis.start()
        site.upstream.release()
        expect(replies(shown)).to_contain_text("word59", timeout=PATIENCE_MS)
        expect(banner).to_be_hidden(timeout=PATIENCE_MS)
