"""What a person does, and what happens to the page, while a reply is being written."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.page_actions import (
    block_socket,
    composer,
    content_of,
    is_at_end,
    lose_frames,
    messages,
    replies,
    scroller,
    streaming,
    wait_until,
    write,
)
from tests.support.upstream import Upstream

pytestmark = [pytest.mark.moving, pytest.mark.usefixtures("provider")]


def begin(page: Page, question: str = "Tell me all of it") -> Locator:
    """Ask for a reply and return it when its first words are there."""
    write(page, question)
    expect(streaming(page)).to_contain_text("word5")
    return streaming(page)


def end(page: Page, provider: Upstream) -> list[str]:
    """Let the reply come to its end, and return all its words."""
    provider.release()
    expect(page.locator('[data-state="complete"][data-role="assistant"]')).to_have_count(1)
    return "".join(provider.log()[-1]["emitted"]).split()


def test_a_stopped_reply_keeps_what_it_had_and_can_be_made_again(page):
    begin(page)
    page.get_by_role("button", name="Stop the reply").click()
    stopped = page.locator('[data-state="stopped"]')
    expect(stopped).to_contain_text("You stopped this reply.")
    assert content_of(stopped).startswith("word0 word1 word2 word3 word4 word5")
    stopped.get_by_role("button", name="Try again").click()
    expect(streaming(page)).to_be_visible()
    expect(replies(page)).to_have_count(1)


def test_a_reload_goes_on_where_the_reply_is(page, provider):
    begin(page)
    page.reload()
    expect(streaming(page)).to_contain_text("word5")
    provider.wait_for_more_tokens()
    words = end(page, provider)
    assert content_of(replies(page)).split() == words


def test_a_second_message_waits_and_is_not_stored(page):
    begin(page)
    write(page, "too early")
    expect(page.get_by_text("too early")).to_be_visible()
    expect(composer(page)).to_have_value("")
    expect(messages(page)).to_have_count(2)


def test_a_person_who_has_scrolled_up_is_left_there_and_can_jump_back(page, provider):
    page.set_viewport_size({"width": 1280, "height": 500})
    begin(page, "Tell me all of it\n\n" * 20)
    scroller(page).evaluate("e => { e.scrollTop = 0 }")
    jump = page.get_by_role("button", name="Jump to the newest message")
    expect(jump).to_be_visible()
    end(page, provider)
    expect(scroller(page)).to_have_js_property("scrollTop", 0)
    jump.click()
    expect(jump).to_be_hidden()
    wait_until(page, lambda: is_at_end(page))


def test_a_reply_whose_last_frame_is_lost_does_not_stay_unfinished(page, provider):
    lost = lose_frames(page, "reply.done")
    page.reload()
    begin(page)
    words = end(page, provider)
    assert content_of(replies(page)).split() == words
    assert lost


def test_a_screen_reader_hears_the_reply_only_when_it_is_finished(page, provider):
    begin(page)
    announcer = page.locator('[data-part="announcer"]')
    expect(announcer).to_be_empty()
    words = end(page, provider)
    expect(announcer).to_contain_text(words[-1])


def test_a_reply_is_stopped_without_the_socket(page):
    block_socket(page)
    page.reload()
    begin(page)
    page.get_by_role("button", name="Stop the reply").click()
    expect(page.locator('[data-state="stopped"]')).to_be_visible()


def test_a_reply_is_stopped_without_javascript(signed_in):
    page = signed_in(java_script_enabled=False)
    composer(page).fill("Tell me all of it")
    page.get_by_role("button", name="Send").click()
    streaming(page).get_by_role("button", name="Stop").click()
    expect(page.locator('[data-state="stopped"]')).to_be_visible()


def test_a_reply_goes_on_while_another_conversation_is_shown(page):
    begin(page)
    page.get_by_role("link", name="New conversation").click()
    expect(messages(page)).to_have_count(0)
    expect(page.get_by_role("button", name="Stop the reply")).to_be_hidden()
    page.go_back()
    shown = replies(page).locator("[data-content]")
    expect(streaming(page)).to_have_count(1)
    before = shown.inner_text()
    expect(shown).not_to_have_text(before, use_inner_text=True)
    page.get_by_role("button", name="Stop the reply").click()
    expect(page.locator("[data-state-note]")).to_have_text("You stopped this reply.")
