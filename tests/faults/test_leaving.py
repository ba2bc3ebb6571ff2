"""Whoever closes the page loses nothing: the reply goes on, and is there on return."""

from __future__ import annotations

import pytest

from .pages import Page


@pytest.mark.parametrize("go", [Page.leave, Page.vanish])
def test_a_reply_goes_on_when_its_reader_is_gone(site, page, chance, go):
    site.answer_with("paced-60-20")
    reply = page.ask()
    page.wait_for_text(reply, chance.randint(1, 200))
    go(page)
    assert site.wait_for_end(reply)["state"] == "complete"


@pytest.mark.parametrize("go", [Page.leave, Page.vanish])
def test_a_message_is_answered_though_its_sender_left_at_once(site, page, shared_browser, go):
    site.answer_with("ok")
    reply = page.ask()
    go(page)
    assert site.wait_for_end(reply)["state"] == "complete"
    assert [message["state"] for message in shared_browser.sync(page.conversation)] == ["complete", "complete"]


def test_who_returns_in_the_middle_sees_the_text_so_far_and_the_rest_live(site, page, chance):
    site.answer_with("paced-60-20")
    reply = page.ask()
    page.wait_for_text(reply, chance.randint(1, 200))
    page.vanish()
    page.open()
    assert page.wait_for_end(reply)["state"] == "complete"
    assert page.texts[reply].text == site.wait_for_end(reply)["content"]
    assert any(frame["type"] == "reply.delta" and frame["at"] > 0 for frame in page.frames[-20:])


def test_a_second_page_opened_in_the_middle_sees_the_same(site, page, shared_browser):
    site.answer_with("paced-60-20")
    reply = page.ask()
    page.wait_for_text(reply, 50)
    second = site.open_page(shared_browser, page.conversation)
    for each in (page, second):
        each.wait_for_end(reply)
    assert page.texts[reply].text == second.texts[reply].text == site.wait_for_end(reply)["content"]


def test_a_page_that_follows_another_conversation_hears_nothing_of_the_first(site, page, shared_browser):
    site.answer_with("paced-60-20")
    reply = page.ask()
    page.wait_for_text(reply)
    page.send("conversation.sync", conversation=site.begin(), from_position=0)
    page.wait_for("conversation.snapshot")
    assert not [frame for frame in page.listen(seconds=0.5) if frame.get("reply") == reply]
