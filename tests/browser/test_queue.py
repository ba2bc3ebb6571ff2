"""Writing while a reply streams: the next message waits above the field, and is sent once. Its end: `endless/`."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.parsing.pictures import encoded, photo

from .page_actions import (
    CONVERSATION_PATH,
    ask_for_long_reply,
    composer,
    messages,
    replies,
    say,
    streaming,
    write,
)
from .picture_actions import attached_pictures, bring_pictures
from .queue_actions import queue, queued
from .tool_actions import ask_to_write_down, choose_all_tools

CAT = encoded(photo(), "JPEG")
FAIL = """
from conversations.models import Message
from conversations.services.replies.end_reply import Ending, end_reply
reply = Message.objects.get(state="streaming", conversation__public_id="{public_id}")
end_reply(reply.pk, Ending("failed", error_code="provider_unavailable"))
"""


def stop(page: Page) -> None:
    page.get_by_role("button", name="Stop the reply").click()
    expect(streaming(page)).to_have_count(0)


def test_an_empty_field_shows_stop_and_a_filled_one_send_beside_it(page):
    send = page.get_by_role("button", name="Send", exact=True)
    stop_button = page.get_by_role("button", name="Stop the reply")
    expect(send).to_be_visible()
    expect(stop_button).to_be_hidden()
    ask_for_long_reply(page)
    expect(stop_button).to_be_visible()
    expect(send).to_be_hidden()
    composer(page).fill("more")
    expect(send).to_be_visible()
    expect(stop_button).to_be_visible()


def test_two_tabs_send_it_once(page):
    ask_for_long_reply(page)
    page.wait_for_url(CONVERSATION_PATH)
    other = page.context.new_page()
    other.goto(page.url)
    queue(page, "only once")
    expect(queued(other)).to_contain_text("only once")
    composer(page).press("Control+Enter")
    for each in (page, other):
        expect(messages(each)).to_have_count(4)
        expect(streaming(each)).to_have_count(0)
        expect(queued(each)).to_be_hidden()
    other.reload()
    expect(messages(other)).to_have_count(4)


def test_it_is_taken_back_into_the_field_by_its_button_and_by_arrow_up(page):
    ask_for_long_reply(page)
    queue(page, "not quite")
    composer(page).fill("and more")
    page.get_by_role("button", name="Edit the queued message").click()
    expect(composer(page)).to_have_value("not quite\n\nand more")
    expect(queued(page)).to_be_hidden()
    composer(page).press("Enter")
    expect(queued(page)).to_be_visible()
    composer(page).press("ArrowUp")
    expect(composer(page)).to_have_value("not quite\n\nand more")
    stop(page)
    expect(messages(page)).to_have_count(2)


def test_it_is_removed(page):
    ask_for_long_reply(page)
    queue(page, "never mind")
    page.get_by_role("button", name="Remove the queued message").click()
    expect(queued(page)).to_be_hidden()
    expect(composer(page)).to_be_focused()
    stop(page)
    expect(messages(page)).to_have_count(2)


def test_control_and_enter_stop_the_reply_and_send(page):
    ask_for_long_reply(page)
    composer(page).fill("something else")
    composer(page).press("Control+Enter")
    expect(replies(page)).to_have_count(2)
    expect(replies(page).first).to_have_attribute("data-state", "stopped")
    expect(messages(page).nth(2)).to_contain_text("something else")


def test_in_an_empty_field_they_send_what_is_queued(page):
    ask_for_long_reply(page)
    queue(page, "at once")
    composer(page).press("Meta+Enter")
    expect(messages(page).nth(2)).to_contain_text("at once")
    expect(replies(page).first).to_have_attribute("data-state", "stopped")


def test_it_waits_after_stop_and_says_so_until_it_is_sent(page):
    ask_for_long_reply(page)
    queue(page, "not yet")
    stop(page)
    expect(queued(page)).to_contain_text("Not sent, because you stopped the reply")
    expect(messages(page)).to_have_count(2)
    page.get_by_role("button", name="Send now").click()
    expect(messages(page)).to_have_count(4)


def test_it_waits_after_a_failure_and_says_so(page, site):
    ask_for_long_reply(page)
    queue(page, "what now")
    page.wait_for_url(CONVERSATION_PATH)
    site.run(FAIL.format(public_id=page.url.rstrip("/").rpartition("/")[2]))
    expect(queued(page)).to_contain_text("Not sent, because the reply failed")
    page.reload()
    expect(queued(page)).to_contain_text("Not sent, because the reply failed")
    expect(messages(page)).to_have_count(2)


def test_it_waits_while_the_reply_awaits_approval_and_says_so(page):
    choose_all_tools(page)
    card = ask_to_write_down(page)
    queue(page, "and then this")
    expect(queued(page)).to_contain_text("the reply asks for your approval")
    card.get_by_role("button", name="Don’t allow").click()
    expect(messages(page).filter(has_text="and then this")).to_have_count(1)
    expect(queued(page)).to_be_hidden()


def test_pictures_wait_with_it_and_come_back_with_it(page):
    ask_for_long_reply(page)
    bring_pictures(page, "drop", cat=CAT)
    expect(attached_pictures(page)).to_have_count(1)
    queue(page, "What is this?")
    expect(queued(page)).to_contain_text("pictures: 1")
    expect(attached_pictures(page)).to_have_count(0)
    page.get_by_role("button", name="Edit the queued message").click()
    expect(attached_pictures(page)).to_have_count(1)
    composer(page).press("Control+Enter")
    expect(messages(page).nth(2).get_by_role("img")).to_be_visible()


def test_a_reply_that_began_in_another_tab_makes_the_message_wait_too(page):
    say(page, "A conversation")
    other = page.context.new_page()
    other.goto(page.url)
    held = []
    other.route_web_socket("**/ws/", lambda socket: held.append(socket))  # which then says nothing
    other.reload()
    expect(messages(other)).to_have_count(2)
    ask_for_long_reply(page)
    write(other, "from the other tab")
    expect(queued(other)).to_contain_text("from the other tab")
    expect(other.get_by_role("alert")).to_be_hidden()
    expect(messages(page)).to_have_count(4)
