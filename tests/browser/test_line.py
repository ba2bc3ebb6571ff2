"""The line: what the model no longer sees lies behind a blind, and what is pinned there is a lit pane."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from .long_conversations import make_long
from .page_actions import (
    ask_for_long_reply,
    composer,
    content_of,
    messages,
    open_menu,
    replies,
    say,
    scroll_up_to,
    scroller,
    stop_clock,
    streaming,
    wait_until,
    write,
)
from .shown_positions import shown_positions

pytestmark = pytest.mark.moving
FIRST_SEEN = "() => document.querySelector('[data-horizon] ~ [data-message]')?.dataset.position ?? 0"
COLOUR = "e => getComputedStyle(e).backgroundColor"


def line(page: Page):
    return page.get_by_role("separator", name=re.compile("no longer sees anything above"))


@pytest.fixture
def slid(page: Page, site) -> Page:
    """A conversation whose window has moved on, and which is longer than a page of it."""
    say(page, "My name is Andrew")
    make_long(site, page, messages=120)
    page.reload()
    expect(say(page, "Where are we?")).to_have_attribute("data-mark", "in")
    expect(page.locator("[data-horizon]:not([hidden])")).to_have_count(1)  # its window is known
    return page


def test_the_line_says_who_no_longer_sees_how_much(slid):
    scroll_up_to(slid, slid.locator("[data-horizon]:not([hidden])"))
    expect(line(slid)).to_have_accessible_name("Demo (4k window) no longer sees anything above")
    first_seen = int(slid.locator("[data-horizon] + [data-message]").get_attribute("data-position"))
    expect(slid.get_by_text(f"{first_seen} messages above")).to_be_visible()


def test_j_leads_to_the_line_from_the_thread(slid):
    replies(slid).last.focus()
    slid.keyboard.press("j")
    expect(slid.locator("[data-horizon]")).to_be_focused()
    expect(line(slid)).to_be_in_viewport()


def test_the_line_keeps_the_focus_when_it_moves(slid):
    held = []
    slid.route("**/estimate/**", lambda route: held.append(route))
    composer(slid).fill("And now?")
    wait_until(slid, lambda: held)
    replies(slid).last.focus()
    slid.keyboard.press("j")
    expect(slid.locator("[data-horizon]")).to_be_focused()
    answer = held[0].fetch()
    moved = answer.json()
    moved["window"]["first_position"] += 2
    held[0].fulfill(response=answer, json=moved)
    first_seen = moved["window"]["first_position"]
    expect(slid.locator("[data-horizon] + [data-message]")).to_have_attribute("data-position", str(first_seen))
    expect(slid.locator("[data-horizon]")).to_be_focused()


def test_why_explains_and_leads_to_the_beginning(slid):
    replies(slid).last.focus()
    slid.keyboard.press("j")
    slid.get_by_text("Why?", exact=True).click()
    expect(slid.get_by_text("Pin a message, and it is always sent, wherever it stands.")).to_be_visible()
    expect(slid.locator(".jump")).to_be_hidden()  # it would lie over the panel
    slid.keyboard.press("Escape")
    expect(slid.get_by_text("Pin a message, and it is always sent, wherever it stands.")).to_be_hidden()
    expect(slid.locator(".jump")).to_be_visible()
    slid.get_by_text("Why?", exact=True).click()
    slid.get_by_role("link", name="Go to the beginning").click()
    expect(slid.locator('[data-position="0"]')).to_be_focused()
    wait_until(slid, lambda: shown_positions(slid)[0] == 0)


def test_a_pinned_message_is_a_lit_pane_within_the_blind(slid):
    scroll_up_to(slid, slid.locator("[data-horizon]:not([hidden])"))
    first_seen = int(slid.locator("[data-horizon] + [data-message]").get_attribute("data-position"))
    above = slid.locator(f'[data-position="{first_seen - 4}"]')
    lit = slid.locator("html").evaluate(COLOUR)
    assert slid.locator(".messages").evaluate(COLOUR) != lit
    assert above.evaluate(COLOUR) != lit
    above.focus()
    slid.keyboard.press("p")
    expect(above).to_have_attribute("data-mark", "pinned")
    wait_until(slid, lambda: above.evaluate(COLOUR) == lit)
    expect(above.get_by_text("Pinned: always in view")).to_be_visible()
    expect(line(slid)).to_have_accessible_name("Demo (4k window) no longer sees anything above, except pins")


def test_the_line_moves_as_the_window_does_and_what_is_read_stays(slid):
    before = int(slid.evaluate(FIRST_SEEN))
    for number in range(8):
        say(slid, f"And what about number {number}? " * 20)
    slid.reload()
    scroll_up_to(slid, slid.locator("[data-horizon]:not([hidden])"))
    assert int(slid.locator("[data-horizon] + [data-message]").get_attribute("data-position")) > before


def test_the_header_takes_the_colour_of_what_is_below_it(slid):
    header = slid.locator(".conversation-header")
    lit = header.evaluate(COLOUR)
    scroll_up_to(slid, slid.locator("[data-horizon]:not([hidden])"))
    scroller(slid).evaluate("e => e.scrollTo(0, 0)")
    wait_until(slid, lambda: header.evaluate(COLOUR) != lit)


def test_a_conversation_that_is_wholly_in_view_has_neither_line_nor_blind(page):
    say(page, "My name is Andrew")
    expect(line(page)).to_have_count(0)
    expect(page.locator(".has-blind")).to_have_count(0)
    expect(messages(page).last).to_have_attribute("data-mark", "in")


def forget_above(article):
    open_menu(article).get_by_role("menuitem", name="Forget everything above").click()


def test_everything_above_a_message_is_forgotten_and_remembered(page):
    for content in ("My name is Andrew", "Tell me something", "What is my name?"):
        say(page, content)
    other = page.context.new_page()
    other.goto(page.url)
    expect(messages(other)).to_have_count(6)
    forget_above(messages(page).nth(4))
    for tab in (page, other):
        expect(line(tab)).to_be_visible()
        expect(tab.get_by_text("forgotten at your request")).to_be_visible()
        expect(messages(tab).nth(3)).to_have_attribute("data-mark", "out")
        expect(messages(tab).nth(4)).to_have_attribute("data-mark", "in")
        assert messages(tab).nth(4).evaluate("e => e.previousElementSibling.matches('[data-horizon]')")
    expect(page.locator('[data-part="announcer"]')).to_contain_text("Everything above is forgotten")
    for already_forgotten in (3, 4):
        menu = open_menu(messages(page).nth(already_forgotten))
        expect(menu.get_by_role("menuitemcheckbox", name="Pin")).to_be_visible()
        expect(menu.get_by_role("menuitem", name="Forget everything above")).to_be_hidden()
        page.keyboard.press("Escape")
    assert "Andrew" not in content_of(say(page, "And what is my name?"))
    page.reload()
    expect(line(page)).to_be_visible()
    page.get_by_text("Why?", exact=True).click()
    expect(page.get_by_text("you chose “Forget everything above” here.")).to_be_visible()
    expect(page.get_by_text("Pin a message, and it is always sent, wherever it stands.")).to_be_hidden()
    page.keyboard.press("Escape")
    other.get_by_role("button", name="Remember again").click()
    for tab in (page, other):
        expect(line(tab)).to_be_hidden()
        expect(messages(tab).nth(1)).to_have_attribute("data-mark", "in")


def test_what_is_forgotten_loses_no_pin(page):
    say(page, "My name is Andrew")
    open_menu(messages(page).first).get_by_role("menuitemcheckbox", name="Pin").click()
    expect(messages(page).first).to_have_attribute("data-mark", "pinned")
    say(page, "What is my name?")
    forget_above(messages(page).nth(3))
    expect(messages(page).first).to_have_attribute("data-mark", "out")
    expect(line(page)).to_have_accessible_name("Demo (4k window) no longer sees anything above")
    page.get_by_role("button", name="Remember again").click()
    expect(messages(page).first).to_have_attribute("data-mark", "pinned")


def test_a_branch_without_a_request_of_its_own_forgets_and_remembers_by_keyboard(page):
    say(page, "My name is Andrew")
    open_menu(say(page, "What is my name?")).get_by_role("menuitem", name="Branch from here").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("(branch)")
    forget_above(messages(page).nth(2))
    expect(line(page)).to_be_visible()
    page.get_by_role("button", name="Remember again").focus()
    page.keyboard.press("Enter")
    expect(line(page)).to_be_hidden()
    expect(composer(page)).to_be_focused()


def test_the_line_of_what_is_forgotten_promises_no_recall(slid):
    expect(slid.locator("[data-line-recalled]:not([hidden])")).to_have_count(1)
    forget_above(messages(slid).nth(-2))
    expect(slid.get_by_text("forgotten at your request")).to_be_visible()
    expect(slid.locator("[data-line-recalled]")).to_be_hidden()
    slid.reload()
    expect(slid.get_by_text("forgotten at your request")).to_be_visible()
    expect(slid.locator("[data-line-recalled]")).to_be_hidden()


def test_a_message_sent_at_once_is_sent_without_what_is_forgotten(page):
    say(page, "My name is Andrew")
    say(page, "Hello")
    held = []
    page.route("**/forget/", lambda route: held.append(route))
    stop_clock(page)  # the message waits for five seconds
    forget_above(messages(page).nth(2))
    wait_until(page, lambda: held)
    write(page, "What is my name?")
    expect(composer(page)).to_have_value("What is my name?")  # it waits
    held[0].continue_()
    page.clock.resume()
    expect(replies(page)).to_have_count(3)
    expect(streaming(page)).to_have_count(0)
    assert "Andrew" not in content_of(replies(page).last)


def test_below_a_line_that_has_moved_on_it_can_still_be_remembered(slid):
    forget_above(messages(slid).nth(-2))
    last = messages(slid).last
    for number in range(6):
        last = say(slid, f"And what about number {number}? " * 100)
    slid.reload()
    expect(slid.get_by_text("the beginning is forgotten")).to_be_visible()
    slid.get_by_role("button", name="Remember again").click()
    expect(slid.get_by_text("the beginning is forgotten")).to_be_hidden()
    expect(last).to_have_attribute("data-mark", "in")


def test_nothing_is_forgotten_while_a_reply_is_written(page):
    say(page, "My name is Andrew")
    ask_for_long_reply(page)
    forget_above(messages(page).nth(2))
    expect(page.get_by_role("alert")).to_contain_text("A reply is")
    expect(line(page)).to_be_hidden()
    page.get_by_role("button", name="Stop the reply").click()


def test_it_is_forgotten_without_javascript(page, open_page):
    say(page, "My name is Andrew")
    say(page, "What is my name?")
    plain = open_page(page.url, java_script_enabled=False, storage_state=page.context.storage_state())
    messages(plain).nth(2).get_by_role("button", name="More", exact=True).click()
    plain.get_by_role("menuitem", name="Forget everything above").click()
    expect(line(plain)).to_be_visible()
    plain.get_by_role("button", name="Remember again").click()
    expect(line(plain)).to_have_count(0)
