"""Writing a message: nothing that was typed is ever lost, and what it costs is known before it is sent."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .page_actions import composer, draft_kept, lose_next_answer, messages, replies, say, wait_until, write

TOO_LONG = "window " * 5_000


def meter(page):
    return page.locator('[data-part="meter"]')


def test_enter_sends_and_shift_enter_makes_a_new_line(page):
    composer(page).press_sequentially("first")
    composer(page).press("Shift+Enter")
    composer(page).press_sequentially("second")
    composer(page).press("Enter")
    expect(messages(page).first).to_contain_text("first\nsecond", use_inner_text=True)
    expect(composer(page)).to_have_value("")


def test_enter_that_chooses_a_word_of_an_input_method_does_not_send(page):
    composer(page).fill("にほん")
    composer(page).dispatch_event("keydown", {"key": "Enter", "isComposing": True})
    composer(page).press("Shift+Enter")  # a later key is handled: the first one was, too
    expect(composer(page)).to_have_value("にほん\n")
    expect(messages(page)).to_have_count(0)


def test_a_draft_is_there_after_a_reload(page):
    say(page, "A conversation")
    composer(page).fill("not sent yet")
    page.reload()
    expect(composer(page)).to_have_value("not sent yet")


def test_each_conversation_keeps_its_own_draft(page):
    say(page, "The first one")
    composer(page).fill("for the first")
    page.get_by_role("link", name="New conversation").click()
    expect(composer(page)).to_have_value("")
    page.go_back()
    expect(composer(page)).to_have_value("for the first")


def test_a_message_that_was_sent_leaves_no_draft(page):
    say(page, "sent and gone")
    wait_until(page, lambda: draft_kept(page) in ([], [""]))


def test_a_message_that_is_too_long_is_refused_by_its_tokens_and_stays(page):
    write(page, TOO_LONG)
    expect(page.get_by_role("alert")).to_contain_text("tokens too long")
    expect(composer(page)).to_have_value(TOO_LONG)
    expect(messages(page)).to_have_count(0)


def test_a_message_stays_while_the_server_is_away(page):
    page.route("**/messages/**", lambda route: route.abort())
    write(page, "into the void")
    expect(page.get_by_role("alert")).to_contain_text("Can’t reach the server")
    expect(composer(page)).to_have_value("into the void")
    page.unroute("**/messages/**")
    composer(page).press("Enter")
    expect(messages(page)).to_have_count(2)


def test_a_lost_answer_does_not_make_a_second_message(page):
    lose_next_answer(page)
    write(page, "only once")
    expect(page.get_by_role("alert")).to_contain_text("Can’t reach the server")
    composer(page).press("Enter")
    expect(replies(page)).to_have_count(1)
    expect(messages(page)).to_have_count(2)


def test_a_lost_answer_does_not_begin_a_second_conversation_after_a_reload(page):
    lose_next_answer(page)
    write(page, "begun only once")
    expect(page.get_by_role("alert")).to_contain_text("Can’t reach the server")
    page.reload()
    composer(page).press("Enter")
    expect(messages(page)).to_have_count(2)
    expect(page.get_by_role("navigation").get_by_role("link", name="begun only once", exact=True)).to_have_count(1)
    wait_until(page, lambda: draft_kept(page) in ([], [""]))


def test_another_message_than_the_one_whose_answer_was_lost_begins_another_conversation(page):
    lose_next_answer(page)
    write(page, "the first")
    expect(page.get_by_role("alert")).to_contain_text("Can’t reach the server")
    page.reload()
    say(page, "the second")
    expect(messages(page)).to_have_count(2)
    expect(page.get_by_role("heading", level=1)).to_have_text("the second")


def test_the_meter_tells_what_a_message_takes_before_it_is_sent(page):
    composer(page).fill("My name is Andrew")
    expect(meter(page)).to_contain_text("this message 4")
    expect(meter(page)).to_contain_text("of 3,596 tokens")


def test_the_meter_fills_as_far_as_it_says(page):
    composer(page).fill("word " * 1_000)
    expect(meter(page)).to_contain_text("this message 1,00")
    told = re.search(r"([\d,]+) of 3,596 tokens · (\d+) %", meter(page).inner_text())
    prompt, percent = int(told[1].replace(",", "")), int(told[2])
    assert percent == round(100 * prompt / 3_596)
    widths = {
        part: page.locator(f"[data-bar={part}]").evaluate("bar => parseFloat(bar.getAttribute('width'))")
        for part in ("system", "newest", "track", "reserve")
    }
    assert widths["track"] + widths["reserve"] == pytest.approx(100)
    assert 100 * (widths["system"] + widths["newest"]) / widths["track"] == pytest.approx(100 * prompt / 3_596, abs=0.5)


def test_the_numbers_of_the_parts_do_not_cover_what_is_written(page):
    composer(page).fill("My name is Andrew")
    expect(meter(page)).to_contain_text("this message 4")
    opener = page.locator(".meter-open")
    opener.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(opener).to_be_focused()
    numbers = page.get_by_role("tooltip")
    expect(numbers).to_be_visible()
    expect(numbers).to_contain_text("Kept free for the reply 500")
    shown, field = numbers.bounding_box(), page.locator(".composer-box").first.bounding_box()
    assert shown["y"] + shown["height"] <= field["y"]
    page.keyboard.press("Escape")
    expect(numbers).to_be_hidden()


def test_the_meter_tells_by_how_many_tokens_a_message_is_too_long(page):
    composer(page).fill(TOO_LONG)
    expect(meter(page).get_by_text("tokens too long")).to_be_visible()
    expect(meter(page)).to_contain_text("of 3,596 tokens")
    send = page.get_by_role("button", name="Send")
    expect(send).to_be_disabled()
    expect(send).to_have_accessible_description(re.compile("tokens too long"))
    composer(page).press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("tokens too long")
    expect(meter(page).get_by_text("tokens too long")).to_be_hidden()
    composer(page).fill("My name is Andrew")
    composer(page).press("Enter")
    expect(messages(page)).to_have_count(2)


def test_characters_that_cannot_be_stored_are_taken_out_with_a_notice(page):
    say(page, "A conversation")
    composer(page).evaluate("e => { e.value = 'half a \\ud83d pair' }")
    composer(page).press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("were removed from your message")
    expect(messages(page).nth(2)).to_contain_text("half a  pair", use_inner_text=True)
