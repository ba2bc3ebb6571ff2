"""A message that waits for the end of a reply, which comes when the test lets it: it is sent then, and once."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.page_actions import ask_for_long_reply, block_socket, messages, replies, write
from tests.browser.queue_actions import queue, queued

QUESTION = "Tell me all of it"


@pytest.fixture
def waiting(page, provider):
    """The page of a reply that goes on until `provider.release()`."""
    ask_for_long_reply(page, QUESTION)
    return page


def test_a_message_that_is_sent_while_a_reply_streams_waits_for_its_end(waiting, provider):
    queue(waiting, "and then this")
    expect(waiting.get_by_role("alert")).to_be_hidden()
    expect(waiting.locator('[data-part="announcer"]')).to_contain_text("Queued")
    expect(messages(waiting)).to_have_count(2)
    provider.release()
    expect(replies(waiting)).to_have_count(2)
    expect(messages(waiting).nth(2)).to_contain_text("and then this")
    expect(queued(waiting)).to_be_hidden()


def test_it_is_there_after_a_reload_and_is_sent_then(waiting, provider):
    queue(waiting, "kept over the reload")
    waiting.reload()
    expect(queued(waiting)).to_contain_text("kept over the reload")
    provider.release()
    expect(messages(waiting)).to_have_count(4)
    expect(messages(waiting).nth(2)).to_contain_text("kept over the reload")
    expect(queued(waiting)).to_be_hidden()


def test_a_second_message_becomes_the_end_of_the_first(waiting, provider):
    queue(waiting, "the first")
    write(waiting, "the second")
    expect(queued(waiting)).to_contain_text("the first the second")
    provider.release()
    expect(messages(waiting).nth(2)).to_contain_text("the first\n\nthe second", use_inner_text=True)


def test_it_is_sent_without_a_socket_too(page, provider):
    block_socket(page)
    page.reload()
    ask_for_long_reply(page, QUESTION)
    queue(page, "over plain HTTP")
    provider.release()
    expect(messages(page).filter(has_text="over plain HTTP")).to_have_count(1)
    expect(queued(page)).to_be_hidden()
