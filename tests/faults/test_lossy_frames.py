"""Frames on their way to a page are lost, doubled or put off, and the site stands still: the final text is exact."""

from __future__ import annotations

import os
import signal
import time

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE_MS
from tests.browser.page_actions import replies, streaming, write

from .chromium import open_in_chromium

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
    with open_in_chromium(chromium_path, site.browser) as shown:
        done = spoil(shown, chance)
        shown.goto(f"/c/{conversation}/")
        write(shown, "Tell me about noise")
        expect(replies(shown)).to_contain_text("word3", timeout=PATIENCE_MS)
        os.kill(site.process.process.pid, signal.SIGSTOP)
        time.sleep(chance.uniform(1, 3))
        os.kill(site.process.process.pid, signal.SIGCONT)
        expect(replies(shown)).to_contain_text("word19", timeout=PATIENCE_MS)
        expect(streaming(shown)).to_have_count(0, timeout=PATIENCE_MS)
        text = site.database.value(NEWEST)
        expect(replies(shown).locator("[data-content]")).to_have_text(text, timeout=PATIENCE_MS)
        assert done, "frames went this way"
