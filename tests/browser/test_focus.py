"""What has the focus goes with a list, a note or a button: then the focus goes on to where the user goes on."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .page_actions import (
    choose_for_entry,
    composer,
    say,
    scroller,
    streaming,
    write,
)
from .sidebar_actions import listed, new_conversation


@pytest.fixture
def two(page):
    say(page, "Ferries to Reine")
    new_conversation(page)
    say(page, "Bread with caraway")
    return page


def test_a_note_that_is_closed_or_undone_by_keyboard(two):
    choose_for_entry(two, "Ferries to Reine", "Archive")
    two.get_by_role("button", name="Undo").press("Enter")
    expect(listed(two, "Ferries to Reine")).to_be_visible()
    expect(composer(two)).to_be_focused()
    choose_for_entry(two, "Ferries to Reine", "Archive")
    two.locator("#toasts").get_by_role("button", name="Close").press("Enter")
    expect(composer(two)).to_be_focused()


def test_a_note_above_the_composer_that_goes_when_its_button_is_pressed(two):
    two.locator(".title-open").click()
    two.get_by_role("menuitem", name="Archive").click()
    two.locator("#archived-note").get_by_role("button").press("Enter")
    expect(listed(two, "Bread with caraway")).to_be_visible()
    expect(composer(two)).to_be_focused()


def test_the_way_to_the_newest_goes_when_it_is_pressed(page):
    say(page, "count slowly to 12")
    page.set_viewport_size({"width": 1000, "height": 300})
    scroller(page).evaluate("e => { e.scrollTop = 0; }")
    page.locator('[data-part="jump"]').press("Enter")
    expect(page.locator('[data-part="jump"]')).to_be_hidden()
    expect(composer(page)).to_be_focused()


def test_a_reply_that_ends_takes_the_button_along_that_stops_it(page):
    write(page, "count slowly to 12")
    page.get_by_role("button", name="Stop the reply").focus()
    expect(streaming(page)).to_have_count(0)
    expect(composer(page)).to_be_focused()


def test_a_click_on_nothing_leaves_the_focus_nowhere(two):
    composer(two).focus()
    two.locator(".sidebar-head").click(position={"x": 200, "y": 5})
    two.evaluate("new Promise(resolve => setTimeout(() => setTimeout(resolve)))")
    assert two.evaluate("document.activeElement === document.body")
