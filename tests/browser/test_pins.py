"""Pins, exclusions and the window they change: marked in the thread, previewed, and copied as they were sent."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from .long_conversations import make_long
from .page_actions import (
    block_socket,
    composer,
    go_to_message,
    messages,
    open_menu,
    replies,
    say,
    scroll_up_to,
    stop_clock,
    wait_until,
)

LARGE = "An itinerary. " + "window " * 1_900
PIN, EXCLUDE = "Pin", "Exclude"
ATTRIBUTES = {PIN: "data-pinned", EXCLUDE: "data-excluded"}


def mark_of(message: Locator) -> str:
    return str(message.get_attribute("data-mark"))


def press(message: Locator, name: str) -> None:
    open_menu(message).get_by_role("menuitemcheckbox", name=name).click()


def is_pressed(message: Locator, name: str, pressed: bool = True) -> None:
    """Wait until the message is what the item *name* of its menu makes it, or is not."""
    expectation = expect(message).to_have_attribute if pressed else expect(message).not_to_have_attribute
    expectation(ATTRIBUTES[name], "")


def pin(page: Page, message: Locator) -> None:
    """Pin the message and wait until the server has it."""
    press(message, PIN)
    expect(page.locator('[data-part="announcer"]')).to_contain_text("always sent from now on")


def open_preview(page: Page) -> Locator:
    page.get_by_role("button", name="What would be sent").locator(".meter-text").click()
    panel = page.get_by_role("dialog", name="What would be sent now")
    expect(panel).to_be_visible()
    return panel


def rows_of(panel: Locator) -> list[tuple[str, str]]:
    """Return who speaks and how many tokens it takes, of each message in the panel."""
    rows = panel.locator("ol.rows").first.locator(".row")
    expect(rows.first).to_be_visible()
    return [(row.locator(".row-by").inner_text(), row.locator(".row-tokens").inner_text()) for row in rows.all()]


def sent_for(page: Page, reply: Locator) -> dict:
    """Return the recorded request for *reply*."""
    url = reply.get_by_role("link", name="What the model saw").get_attribute("href")
    return page.request.get(url.replace("/window/", "/request/")).json()


def test_a_message_is_pinned_by_keyboard_and_always_sent(page, site):
    say(page, "My name is Andrew")
    go_to_message(page, back=2)
    expect(messages(page).first).to_be_focused()
    page.keyboard.press("p")
    is_pressed(messages(page).first, PIN)
    expect(page.locator('[data-part="announcer"]')).to_contain_text("always sent from now on")
    make_long(site, page, messages=102)
    page.reload()
    expect(say(page, "What is my name?")).to_contain_text("Andrew")


def test_an_excluded_message_leaves_the_next_prompt_and_comes_back(page):
    say(page, "My name is Andrew")
    press(messages(page).first, EXCLUDE)
    expect(messages(page).first).to_have_attribute("data-mark", "excluded")
    expect(say(page, "What is my name?")).not_to_contain_text("Andrew")
    press(messages(page).first, EXCLUDE)
    is_pressed(messages(page).first, EXCLUDE, pressed=False)
    expect(say(page, "What is my name?")).to_contain_text("Andrew")


def test_a_message_waits_until_what_was_excluded_before_it_is_stored(page):
    say(page, "My name is Andrew")
    held: list[Route] = []
    page.route("**/exclude/", lambda route: held.append(route))
    stop_clock(page)  # the message waits for five seconds
    press(messages(page).first, EXCLUDE)
    wait_until(page, lambda: len(held) == 1)
    composer(page).fill("What is my name?")
    composer(page).press("Enter")
    held[0].continue_()
    page.clock.resume()
    expect(replies(page)).to_have_count(2)
    expect(replies(page).last).to_have_attribute("data-state", "complete")
    expect(replies(page).last).not_to_contain_text("Andrew")


def test_excluding_by_key_takes_the_pin_away(page):
    say(page, "My name is Andrew")
    go_to_message(page)
    page.keyboard.press("p")
    is_pressed(replies(page).first, PIN)
    page.keyboard.press("x")
    is_pressed(replies(page).first, EXCLUDE)
    is_pressed(replies(page).first, PIN, pressed=False)


def test_keys_of_a_message_are_letters_in_the_composer(page):
    say(page, "My name is Andrew")
    messages(page).first.click()  # with the mouse: who goes on may want to write
    page.keyboard.press("p")
    composer(page).press_sequentially("px")
    expect(composer(page)).to_have_value("px")
    wait_until(page, lambda: {mark_of(message) for message in messages(page).all()} == {"in"})


def test_a_pin_that_leaves_no_room_is_refused_by_its_tokens_and_taken_back(page):
    say(page, LARGE)
    say(page, LARGE + "and another")
    press(messages(page).nth(0), PIN)
    is_pressed(messages(page).nth(0), PIN)
    say(page, "Now the other one")
    press(messages(page).nth(2), PIN)
    expect(page.get_by_role("alert")).to_contain_text("tokens too long. Unpin some of them.")
    is_pressed(messages(page).nth(2), PIN, pressed=False)
    page.reload()
    is_pressed(messages(page).nth(2), PIN, pressed=False)


def test_what_is_excluded_must_be_included_before_it_is_pinned(page):
    say(page, "My name is Andrew")
    press(messages(page).first, EXCLUDE)
    is_pressed(messages(page).first, EXCLUDE)
    press(messages(page).first, PIN)
    expect(page.get_by_role("alert")).to_contain_text("Include it again first")
    expect(messages(page).first).to_have_attribute("data-mark", "excluded")


def test_a_mark_that_did_not_reach_the_server_is_taken_back(page):
    say(page, "My name is Andrew")
    page.route("**/pin/", lambda route: route.abort())
    press(messages(page).first, PIN)
    expect(page.get_by_role("alert")).to_contain_text("Can’t reach the server")
    is_pressed(messages(page).first, PIN, pressed=False)


def test_a_second_tab_follows(page):
    say(page, "My name is Andrew")
    second = page.context.new_page()
    second.goto(page.url)
    press(messages(page).first, PIN)
    is_pressed(messages(second).first, PIN)
    press(messages(second).first, EXCLUDE)
    expect(messages(page).first).to_have_attribute("data-mark", "excluded")


def test_a_tab_that_heard_nothing_is_told_with_the_next_estimate(page):
    say(page, "My name is Andrew")
    second = page.context.new_page()
    block_socket(second)
    second.goto(page.url)
    press(messages(page).first, PIN)
    press(messages(page).last, EXCLUDE)
    is_pressed(messages(page).last, EXCLUDE)
    expect(page.locator('[data-part="announcer"]')).to_contain_text("never sent again")  # the server has both
    composer(second).fill("anything")
    is_pressed(messages(second).first, PIN)
    expect(messages(second).last).to_have_attribute("data-mark", "excluded")


def test_the_preview_is_what_is_then_sent(page):
    say(page, "My name is Andrew")
    pin(page, messages(page).first)
    composer(page).fill("What is my name?")
    previewed = rows_of(open_preview(page))
    page.keyboard.press("Escape")
    composer(page).press("Enter")
    expect(replies(page).last).to_contain_text("Andrew")
    expect(page.locator('[data-state="streaming"]')).to_have_count(0)
    replies(page).last.get_by_role("link", name="What the model saw").click()
    saw = page.get_by_role("dialog", name="What the model saw")
    expect(saw).to_be_visible()
    assert rows_of(saw) == previewed
    assert previewed[0][0] == "You · pinned"


def test_the_preview_of_a_message_that_is_too_long_says_by_how_much(page):
    composer(page).fill("window " * 5_000)
    panel = open_preview(page)
    expect(panel.get_by_role("alert")).to_contain_text("tokens too long")
    expect(panel).to_contain_text("Over the budget by")


def test_the_copied_json_is_the_recorded_request(page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    say(page, "My name is Andrew")
    reply = say(page, "What is my name?")
    reply.get_by_role("link", name="What the model saw").click()
    page.get_by_role("button", name="Copy as JSON").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied == sent_for(page, reply)
    assert [message["role"] for message in copied["messages"]] == ["user", "assistant", "user"]
    expect(page.get_by_text("exactly as it was sent")).to_be_visible()


def test_the_numbers_of_the_parts_come_with_the_focus_and_go_with_escape(page):
    say(page, "My name is Andrew")
    bar = page.get_by_role("button", name="What would be sent")
    parts = page.get_by_role("tooltip")
    expect(parts).to_be_hidden()
    page.keyboard.press("Tab")
    expect(bar).to_be_focused()
    expect(parts).to_contain_text("Older messages")
    expect(parts).to_contain_text("Kept free for the reply 500")
    page.keyboard.press("Escape")
    expect(parts).to_be_hidden()


@pytest.fixture
def stepped(page: Page, site) -> Page:
    """A conversation whose window has moved on, with a pin above its beginning."""
    say(page, "My name is Andrew")
    pin(page, messages(page).first)
    make_long(site, page, messages=58)
    page.reload()
    say(page, "Where are we?")
    return page


def test_what_is_above_the_line_is_out_of_view_but_for_pins(stepped):
    page = stepped
    scroll_up_to(page, page.locator('[data-position="0"]'))
    line = page.get_by_role("separator", name="no longer sees anything above, except pins")
    expect(line).to_be_visible()
    first_seen = int(page.locator("[data-horizon] + [data-message]").get_attribute("data-position"))
    marks = {int(m.get_attribute("data-position")): mark_of(m) for m in messages(page).all()}
    assert marks.pop(0) == "pinned"
    assert {mark for position, mark in marks.items() if position < first_seen} == {"out"}
    assert {mark for position, mark in marks.items() if position >= first_seen} == {"in"}


def test_the_step_of_the_window_is_told_in_words(stepped):
    page = stepped
    replies(page).last.get_by_role("link", name="What the model saw").click()
    panel = page.get_by_role("dialog", name="What the model saw")
    expect(panel).to_contain_text("earlier messages are out of view")
    expect(panel).to_contain_text(re.compile(r"The window starts (one message|\d+ messages) later"))


@pytest.fixture
def page_without_script(page, open_page):
    say(page, "My name is Andrew")
    return open_page(page.url, java_script_enabled=False, storage_state=page.context.storage_state())


def test_marks_are_plain_forms_without_javascript(page_without_script):
    page = page_without_script

    def press(name: str) -> None:
        messages(page).first.get_by_role("button", name="More", exact=True).click()
        page.get_by_role("menuitemcheckbox", name=name).click()

    press(PIN)
    is_pressed(messages(page).first, PIN)
    press(EXCLUDE)
    expect(messages(page).first).to_have_attribute("data-mark", "excluded")
    press(PIN)
    expect(page.get_by_role("alert")).to_contain_text("Include it again first")
    page.get_by_role("link", name="Back").click()
    expect(messages(page)).to_have_count(2)


def test_the_preview_is_a_page_of_its_own_without_javascript(page_without_script):
    page = page_without_script
    composer(page).fill("What is my name?")
    page.get_by_role("button", name="What would be sent").locator(".meter-name").click()
    expect(page.get_by_role("heading", name="What would be sent now")).to_be_visible()
    expect(page.locator(".row-newest")).to_contain_text("What is my name?")


def test_the_request_is_json_without_javascript(page_without_script):
    page = page_without_script
    replies(page).last.get_by_role("link", name="What the model saw").click()
    link = page.get_by_role("link", name="Open the JSON").get_attribute("href")
    assert page.request.get(link).json()["messages"] == [{"role": "user", "content": "My name is Andrew"}]
