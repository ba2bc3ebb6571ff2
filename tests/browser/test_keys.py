"""Keys: letters that are typed stay letters on every system, and what keys do is listed."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from .page_actions import composer, messages, replies, say, streaming, write

PRESS = """(field, init) => {
  const event = new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init });
  return field.dispatchEvent(event);
}"""


def keys(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Keys")


@pytest.mark.parametrize(
    ("code", "key"),
    [
        *(("KeyA", "ą"), ("KeyS", "ś"), ("KeyN", "~"), ("KeyM", "µ"), ("KeyP", "π"), ("KeyH", "˙"), ("KeyW", "∑")),
        *(("ArrowUp", "ArrowUp"), ("ArrowDown", "ArrowDown"), ("Digit7", "|")),
    ],
)
def test_what_alt_or_option_types_in_the_field_is_left_to_the_browser(page, code, key):
    say(page, "A conversation")
    address = page.url
    assert composer(page).evaluate(PRESS, {"code": code, "key": key, "altKey": True})
    expect(composer(page)).to_be_focused()
    assert page.url == address


def test_alt_gr_which_counts_as_control_and_alt_is_left_to_it_too(page):
    for key in ("/", ".", ";", "?"):
        assert composer(page).evaluate(PRESS, {"key": key, "altKey": True, "ctrlKey": True})
    expect(keys(page)).to_be_hidden()


@pytest.mark.parametrize("press", ["Control+/", "Meta+/"])
def test_the_list_of_keys_opens_from_the_field(page, press):
    composer(page).press(press)
    expect(keys(page)).to_be_visible()
    expect(keys(page)).to_contain_text("stop the reply and send")
    page.keyboard.press("Escape")
    expect(keys(page)).to_be_hidden()


def test_it_takes_the_focus_so_that_no_key_reaches_what_lies_behind_it(page):
    composer(page).fill("half a message")
    composer(page).press("Control+/")
    expect(keys(page)).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.type("xyz")
    page.keyboard.press("Escape")
    expect(composer(page)).to_be_focused()
    expect(composer(page)).to_have_value("half a message")
    expect(messages(page)).to_have_count(0)


def test_what_is_typed_after_an_edit_that_began_in_the_field_goes_into_the_field(page):
    say(page, "My name is Andrew")
    composer(page).press("ArrowUp")
    expect(page.get_by_role("textbox", name="Your message")).to_be_focused()
    page.keyboard.press("Escape")
    expect(composer(page)).to_be_focused()
    page.keyboard.type("explain x")
    expect(composer(page)).to_have_value("explain x")
    expect(messages(page).first).to_have_attribute("data-mark", "in")


def test_send_and_stop_pressed_by_a_key_leave_the_focus_in_the_field(page):
    composer(page).fill("count slowly to 5000")
    page.get_by_role("button", name="Send", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.locator("#main.is-streaming")).to_be_visible()
    expect(composer(page)).to_be_focused()
    page.get_by_role("button", name="Stop the reply").focus()
    page.keyboard.press("Enter")
    expect(streaming(page)).to_have_count(0)
    expect(composer(page)).to_be_focused()


def test_a_question_mark_opens_it_outside_of_fields_and_is_a_letter_within(page):
    composer(page).press("?")
    expect(composer(page)).to_have_value("?")
    expect(keys(page)).to_be_hidden()
    composer(page).blur()
    page.keyboard.press("?")
    expect(keys(page)).to_be_visible()


def test_single_keys_can_be_switched_off(page):
    composer(page).press("Control+/")
    keys(page).get_by_role("checkbox").uncheck()
    keys(page).get_by_role("button", name="Close").click()
    page.reload()
    composer(page).blur()
    page.keyboard.press("?")
    page.keyboard.press("Control+;")
    expect(composer(page)).to_be_focused()
    expect(keys(page)).to_be_hidden()


def test_a_key_stops_the_reply_from_the_field(page):
    write(page, "count slowly to 5000")
    expect(page.locator("#main.is-streaming")).to_be_visible()
    composer(page).press("Control+.")
    expect(streaming(page)).to_have_count(0)
    expect(replies(page).first).to_have_attribute("data-state", "stopped")


def test_keys_lead_from_the_field_to_messages_and_back(page):
    say(page, "A conversation")
    composer(page).press("Control+;")
    expect(messages(page).last).to_be_focused()
    page.keyboard.press("Alt+ArrowUp")
    expect(messages(page).first).to_be_focused()
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.press("Alt+ArrowDown")
    expect(composer(page)).to_be_focused()
    page.keyboard.press("Control+;")
    page.keyboard.press("w")
    expect(page.get_by_role("dialog", name="What the model saw")).to_be_visible()


def test_arrow_up_in_an_empty_field_edits_the_last_message_of_ones_own(page):
    say(page, "one")
    say(page, "two")
    composer(page).fill("typed")
    composer(page).press("ArrowUp")
    field = page.get_by_role("textbox", name="Your message")
    expect(field).to_have_count(0)
    composer(page).fill("")
    composer(page).press("ArrowUp")
    expect(field).to_have_value("two")
    expect(field).to_be_focused()
