"""Continue: under a reply that was cut off, for the page, for other tabs, and without JavaScript."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .page_actions import CONVERSATION_PATH, block_socket, content_of, replies, say, streaming

COUNT = "Count to 100"
SAID = 150
CUT_OFF = """
from conversations.models import Message
reply = Message.objects.filter(conversation__public_id="{conversation}", role="assistant").get()
reply.content, reply.state, reply.error_code = reply.content[:{length}], "interrupted", "reply_interrupted"
reply.save()
"""


@pytest.fixture
def whole(page, site):
    """The text of a reply, which has been cut off since at `SAID` characters, as if its worker had died."""
    text = content_of(say(page, COUNT))
    conversation = CONVERSATION_PATH.search(page.url)[0].split("/")[2]
    site.run(CUT_OFF.format(conversation=conversation, length=SAID))
    page.reload()
    return text


def go_on(page):
    replies(page).get_by_role("button", name="Continue").click()


def numbers_in(reply):
    counted = content_of(reply).split("Cut off")[0]
    return [int(number) for number in re.findall(r"\d+", counted)]


def test_a_reply_that_was_cut_off_is_continued_as_one(page, whole):
    assert len(content_of(replies(page))) <= SAID
    expect(replies(page).get_by_text("The reply was interrupted")).to_be_visible()
    go_on(page)
    expect(replies(page).locator("[data-content]")).to_contain_text("100")
    expect(streaming(page)).to_have_count(0)
    assert content_of(replies(page)) == whole
    expect(replies(page).get_by_role("button", name="Continue")).to_have_count(0)
    expect(replies(page)).to_have_count(1)
    page.reload()
    assert content_of(replies(page)) == whole


def test_another_tab_and_a_page_without_a_socket_see_it_go_on(page, whole):
    other, polling = page.context.new_page(), page.context.new_page()
    block_socket(polling)
    for tab in (other, polling):
        tab.goto(page.url)
        expect(replies(tab).get_by_role("button", name="Continue")).to_be_visible()
    go_on(polling)
    for tab in (page, other, polling):
        expect(replies(tab).get_by_role("button", name="Continue")).to_have_count(0)
        expect(replies(tab).locator("[data-content]")).to_contain_text("100")
        expect(streaming(tab)).to_have_count(0)
        assert content_of(replies(tab)) == whole


def test_it_is_continued_without_javascript(page, whole, open_page):
    plain = open_page(page.url, java_script_enabled=False, storage_state=page.context.storage_state())
    go_on(plain)
    expect(plain.locator('[data-role="assistant"][data-state="complete"]')).to_contain_text("100")


def test_a_reply_that_is_not_the_last_one_offers_nothing(page, whole):
    say(page, "Hello")
    expect(replies(page).first.get_by_role("button", name="Continue")).to_be_hidden()


def test_a_reply_that_reached_its_length_is_continued(page):
    reply = say(page, "Count to 500")
    expect(reply.get_by_text("Cut off here: the reply reached its length limit.")).to_be_visible()
    before = numbers_in(reply)
    go_on(page)
    expect(replies(page).locator("[data-content]")).to_contain_text(f", {len(before) + 2}")
    expect(streaming(page)).to_have_count(0)
    after = numbers_in(replies(page))
    assert before == after[: len(before)] == list(range(1, len(before) + 1))
    assert after == list(range(1, len(after) + 1))
