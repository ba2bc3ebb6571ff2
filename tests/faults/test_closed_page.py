"""Closing the page loses nothing: the reply goes on, and is there on return."""

from __future__ import annotations

import time

import pytest

from .goals import RESUMED_AFTER_CUT
from .pages import Page

LEAVE = pytest.mark.parametrize("go", [Page.leave, Page.vanish])


def begin(site, page, chance):
    """Return a reply that goes on until it is let end, once some of its text is known."""
    site.answer_with("endless-20")
    reply = page.ask()
    page.wait_for_text(reply, chance.randint(1, 200))
    return reply


@LEAVE
def test_a_reply_goes_on_when_its_reader_is_gone(site, page, chance, go):
    reply = begin(site, page, chance)
    go(page)
    site.upstream.wait_for_more_tokens()
    assert site.let_end(reply) == {"state": "complete", "content": site.emitted(), "error_code": ""}


@LEAVE
def test_a_message_is_answered_though_its_sender_left_at_once(site, page, shared_browser, go):
    site.answer_with("ok")
    reply = page.ask()
    go(page)
    assert site.wait_for_end(reply)["state"] == "complete"
    assert [message["state"] for message in shared_browser.sync(page.conversation)] == ["complete", "complete"]


def test_who_returns_in_the_middle_sees_the_text_so_far_and_the_rest_live(site, page, chance):
    reply = begin(site, page, chance)
    emitted, left_at = len(site.emitted()), time.monotonic()
    page.vanish()
    page.come_back(chance)
    RESUMED_AFTER_CUT.measure(page.wait_for_new_text(reply, emitted) - left_at)
    assert page.wait_for("reply.delta")["at"] > 0
    site.upstream.release()
    assert page.wait_for_end(reply)["state"] == "complete"
    assert page.texts[reply].text == site.wait_for_end(reply)["content"]


def test_a_second_page_opened_in_the_middle_sees_the_same(site, page, shared_browser, chance):
    reply = begin(site, page, chance)
    second = site.open_page(shared_browser, page.conversation)
    second.wait_for("reply.delta")
    site.upstream.release()
    for each in (page, second):
        each.wait_for_end(reply)
    assert page.texts[reply].text == second.texts[reply].text == site.wait_for_end(reply)["content"]


def test_a_page_that_follows_another_conversation_hears_nothing_of_the_first(site, page, shared_browser, chance):
    reply, elsewhere = begin(site, page, chance), {"conversation": site.begin(), "from_position": 0}
    witness = site.open_page(shared_browser, page.conversation)
    page.send("conversation.sync", **elsewhere)
    page.wait_for("conversation.snapshot")
    before = len(page.frames)
    for _ in range(3):
        witness.wait_for("reply.delta")
    page.send("conversation.sync", **elsewhere)
    page.wait_for("conversation.snapshot")
    assert not [frame for frame in page.frames[before:] if frame.get("reply") == reply]
