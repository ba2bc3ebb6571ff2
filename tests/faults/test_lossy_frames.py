"""Frames on their way to a page are lost, doubled or put off, and the site stands still: the final text is exact."""

from __future__ import annotations

import os
import signal
import time

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.conftest import ARGUMENTS
from tests.browser.page_actions import replies, streaming, write
from tests.support.patience import PATIENCE_SECONDS

PATIENCE_MILLISECONDS = PATIENCE_SECONDS * 1000
NEWEST = "SELECT content FROM conversations_message WHERE role = 'assistant' ORDER BY id DESC LIMIT 1"


def spoil(page, chance):
    """Lose, double or put off one frame in five to a hundred on its way to *page*; returns what was done to them."""
    share, done, put_off = chance.choice([0.01, 0.05, 0.2]), [], []

    def connect(socket):
        def pass_on(payload):
            what = chance.choice(["lost", "doubled", "put off"]) if chance.random() < share else ""
            done.append(what)
            if what == "put off":
                put_off.append(payload)
                return
            for _ in range({"lost": 0, "doubled": 2}.get(what, 1)):
                socket.send(payload)
            while put_off:
                socket.send(put_off.pop())

        socket.connect_to_server().on_message(pass_on)

    page.route_web_socket("**/ws/", connect)
    return done


@pytest.mark.browser
def test_the_final_text_is_exact(mortal_site, chromium_path, chance):
    site = mortal_site
    site.answer_with("paced-20-60")
    conversation = site.begin()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path, args=ARGUMENTS)
        context = chromium.new_context(base_url=site.address)
        context.add_cookies([{"name": n, "value": v, "url": site.address} for n, v in site.browser.cookies.items()])
        shown = context.new_page()
        shown.set_default_timeout(PATIENCE_MILLISECONDS)
        done = spoil(shown, chance)
        shown.goto(f"/c/{conversation}/")
        write(shown, "Tell me about noise")
        expect(replies(shown)).to_contain_text("word3", timeout=PATIENCE_MILLISECONDS)
        os.kill(site.process.process.pid, signal.SIGSTOP)
        time.sleep(chance.uniform(1, 3))
        os.kill(site.process.process.pid, signal.SIGCONT)
        expect(replies(shown)).to_contain_text("word19", timeout=PATIENCE_MILLISECONDS)
        expect(streaming(shown)).to_have_count(0, timeout=PATIENCE_MILLISECONDS)
        text = site.database.value(NEWEST)
        expect(replies(shown).locator("[data-content]")).to_have_text(text, timeout=PATIENCE_MILLISECONDS)
        assert done, "frames went this way"
        chromium.close()
