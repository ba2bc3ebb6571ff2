"""Reading: long conversations, the line where the view ends, small screens, the keyboard, light and dark."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from .long_conversations import SCROLLED_SIDEWAYS, make_long
from .page_actions import (
    composer,
    is_at_end,
    messages,
    open_account_menu,
    replies,
    say,
    scroll_up_to,
    wait_until,
    write,
)

POSITIONS = "messages => messages.map(({ dataset }) => Number(dataset.position))"


@pytest.fixture
def long_conversation(page: Page, site) -> Page:
    """A conversation of 104 messages, of which the language model saw the last ones only."""
    say(page, "My name is Andrew")
    make_long(site, page, messages=102)
    page.reload()
    say(page, "What is my name?")
    page.reload()
    return page


def test_a_long_conversation_opens_at_its_end(long_conversation):
    page = long_conversation
    expect(replies(page).last).to_be_in_viewport()
    expect(messages(page)).to_have_count(30)
    wait_until(page, lambda: is_at_end(page))


def test_older_messages_come_in_above_and_what_is_read_stays_in_place(long_conversation):
    page = long_conversation
    first = messages(page).first
    identity = first.get_attribute("id")
    first.evaluate("e => e.scrollIntoView()")
    expect(messages(page)).to_have_count(60)
    expect(page.locator(f"#{identity}")).to_be_in_viewport()
    assert messages(page).first.get_attribute("data-position") == "44"


def test_a_page_that_has_missed_more_than_a_frame_holds_is_left_without_a_hole(page, site):
    say(page, "My name is Andrew")
    make_long(site, page, messages=250)
    other = page.context.new_page()
    other.goto(page.url)
    write(other, "What is my name?")
    expect(messages(page).last).to_have_attribute("data-position", "251")
    shown = messages(page).evaluate_all(POSITIONS)
    assert shown[0] > 1
    assert shown == list(range(shown[0], 252))


def test_a_line_shows_where_the_view_of_the_language_model_ends(long_conversation):
    page = long_conversation
    horizon = page.get_by_role("separator", name="no longer sees anything above")
    scroll_up_to(page, horizon)
    first_seen = int(page.locator("[data-horizon] + [data-message]").get_attribute("data-position"))
    replies(page).last.get_by_role("link", name="What the model saw").click()
    expect(page.get_by_text(f"{first_seen} earlier messages are out of view.")).to_be_visible()


def test_only_code_and_tables_are_wider_than_a_small_screen(signed_in):
    page = signed_in(viewport={"width": 390, "height": 844})
    say(page, "A long title that would not fit beside the mark of the demo model")
    say(page, "show me markdown")
    say(page, "x" * 500 + "\n\n    " + "code " * 100)
    assert wider_than_their_place(page, width=390) == {"PRE"}
    assert wider_than_their_place(page, width=320) == {"PRE"}
    page.get_by_role("link", name="What the model saw").last.click()
    expect(page.get_by_role("dialog", name="What the model saw")).to_be_visible()
    assert wider_than_their_place(page, width=320) == {"PRE"}


def test_no_page_is_wider_than_the_smallest_screen(signed_in):
    page = signed_in(viewport={"width": 320, "height": 700})
    say(page, "Donaudampfschifffahrtsgesellschaft" * 3)
    for path in ["/", "/conversations/", "/account/", "/accounts/password/change/", "/nowhere/"]:
        page.goto(path)
        assert wider_than_their_place(page, width=320) == set(), path


def wider_than_their_place(page: Page, *, width: int) -> set[str]:
    """Return the names of the elements that can be scrolled sideways on a screen of that *width*."""
    page.set_viewport_size({"width": width, "height": 800})
    return set(page.evaluate(SCROLLED_SIDEWAYS))


def test_the_list_is_a_drawer_on_a_small_screen(signed_in):
    page = signed_in(viewport={"width": 390, "height": 844})
    say(page, "My name is Andrew")
    listed = page.get_by_role("link", name="My name is Andrew", exact=True)
    expect(listed).to_be_hidden()
    page.get_by_role("button", name="Conversations").click()
    expect(listed).to_be_visible()
    page.keyboard.press("Escape")
    expect(listed).to_be_hidden()


def test_everything_is_done_by_keyboard(page):
    page.keyboard.type("My name is Andrew")
    page.keyboard.press("Enter")
    expect(page.locator('[data-state="complete"][data-role="assistant"]')).to_be_visible()
    page.keyboard.press("Control+;")
    page.keyboard.press("w")
    panel = page.get_by_role("dialog", name="What the model saw")
    expect(panel).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+;")
    expect(composer(page)).to_be_focused()


def test_the_first_tab_leads_past_the_list_to_the_content(page):
    page.goto("/account/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()


def test_light_or_dark_is_remembered(signed_in):
    page = signed_in(color_scheme="light")
    open_account_menu(page)
    page.get_by_role("button", name="Switch between light and dark").click()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
