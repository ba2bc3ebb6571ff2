"""Pages whose connections the network forgets in mid reply: they stay open at both ends, and nothing passes any more.

The reply goes on, the server drops what is dead by its own pings, and a page in Chromium opens another socket by
itself.
"""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE_MS
from tests.browser.page_actions import replies, streaming, write
from tests.support.patience import wait_for
from tests.support.ports import free_port

from .browsers import Browser
from .chromium import open_in_chromium
from .conftest import checked
from .goals import DROPPED_BY_SERVER, SEEN_AFTER_FORGOTTEN
from .network import ForgetfulProxy

pytestmark = pytest.mark.browser
PAGES = 4
IN_CHROMIUM = "Tell me about Chromium"
NEWEST = "SELECT id FROM conversations_message WHERE role = 'assistant' ORDER BY id DESC LIMIT 1"


@pytest.fixture(scope="module")
def proxy():
    proxy = ForgetfulProxy(free_port())
    yield proxy
    proxy.close()


@pytest.fixture(scope="module")
def proxied_site(make_site, proxy):
    with make_site(PORT=str(proxy.target), SITE_URL=f"http://127.0.0.1:{proxy.port}") as site:
        site.serve()
        yield site


@pytest.fixture
def site(proxied_site):
    with checked(proxied_site):
        yield proxied_site


@pytest.fixture
def browser(site):
    """The browser of a person who reaches the site over the proxy."""
    return Browser(site.settings["SITE_URL"], cookies=site.browser)


def emitted(site, content):
    """Return what the provider has said so far about *content*."""
    [exchange] = site.requests_about(content)
    return "".join(exchange["emitted"])


def open_sockets(site):
    return site.metrics()["windowseat_open_sockets"]


def test_the_reply_is_whole_and_its_pages_hear_it_again(site, proxy, browser, chromium_path, chance):
    site.answer_with("endless-40")
    pages = [site.open_page(browser) for _ in range(PAGES)]
    contents = [page.post() for page in pages]
    asked = [page.answer()["reply"] for page in pages]
    for page, reply in zip(pages, asked, strict=True):
        page.wait_for_text(reply, chance.randint(20, 300))
    with open_in_chromium(chromium_path, browser) as shown:
        shown.goto(f"/c/{site.begin()}/")
        write(shown, IN_CHROMIUM)
        expect(streaming(shown)).to_contain_text(f"word{chance.randint(10, 60)} ", timeout=PATIENCE_MS)
        asked.append(site.database.value(NEWEST))
        assert proxy.forget() > PAGES
        forgotten_at = time.monotonic()
        newest = emitted(site, IN_CHROMIUM).rpartition(" ")[2]
        later = f"word{int(newest.removeprefix('word')) + 5} "
        expect(replies(shown)).to_contain_text(later, timeout=PATIENCE_MS)
        SEEN_AFTER_FORGOTTEN.measure(time.monotonic() - forgotten_at)
        new_pages = [site.open_page(browser, page.conversation) for page in pages]
        for content, page, reply in zip(contents, new_pages, asked, strict=False):
            page.wait_for_new_text(reply, len(emitted(site, content)))
        wait_for(lambda: open_sockets(site) == len(new_pages) + 1, "the server has dropped all dead sockets")
        DROPPED_BY_SERVER.measure(time.monotonic() - forgotten_at)
        site.upstream.release()
        ends = [site.wait_for_end(reply) for reply in asked]
        assert {end["state"] for end in ends} == {"complete"}
        assert [end["content"] for end in ends] == [emitted(site, content) for content in (*contents, IN_CHROMIUM)]
        for end, page, reply in zip(ends, new_pages, asked, strict=False):
            assert page.wait_for_end(reply)["state"] == "complete"
            assert page.texts[reply].text == end["content"]
        expect(streaming(shown)).to_have_count(0, timeout=PATIENCE_MS)
        expect(replies(shown).locator("[data-content]")).to_have_text(ends[-1]["content"], timeout=PATIENCE_MS)
