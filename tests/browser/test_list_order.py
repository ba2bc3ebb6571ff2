"""Star and archive: in the menu of an entry, in that of the title, by keyboard, in other tabs, without JavaScript."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .page_actions import begin_another, choose_for_entry, composer, open_account_menu, say


def listed(page, title):
    return page.get_by_role("navigation").get_by_role("link", name=title, exact=True)


def group(page, kind):
    return page.locator(f'[data-kind="{kind}"]')


@pytest.fixture
def two(page):
    say(page, "Ferries to Reine")
    begin_another(page)
    say(page, "Bread with caraway")
    return page


def test_stars_and_the_archive_show_in_all_tabs_and_a_message_brings_a_conversation_back(two):
    other = two.context.new_page()
    other.goto(two.url)
    choose_for_entry(two, "Ferries to Reine", "Star")
    for page in (two, other):
        expect(group(page, "starred").get_by_role("link", name="Ferries to Reine", exact=True)).to_be_visible()
    choose_for_entry(two, "Bread with caraway", "Archive")
    expect(two.get_by_text("“Bread with caraway” is archived.")).to_be_visible()
    for page in (two, other):
        expect(listed(page, "Bread with caraway")).to_have_count(0)
        expect(page.get_by_text("A message brings it back into the list.")).to_be_visible()
    two.get_by_role("button", name="Undo").click()
    expect(listed(other, "Bread with caraway")).to_be_visible()
    expect(other.get_by_text("A message brings it back into the list.")).to_have_count(0)
    other.get_by_role("button", name="Bread with caraway", exact=True).click()
    other.get_by_role("menuitem", name="Archive").click()
    expect(listed(two, "Bread with caraway")).to_have_count(0)
    open_account_menu(two)
    two.get_by_role("link", name="Archive").click()
    expect(two.get_by_role("main").get_by_role("link", name="Bread with caraway")).to_be_visible()
    say(other, "And butter")
    expect(listed(two, "Bread with caraway")).to_be_visible()
    expect(two.get_by_text("Nothing is archived.")).to_be_visible()


def test_by_keyboard_alone(two):
    composer(two).focus()
    listed(two, "Bread with caraway").focus()
    expect(listed(two, "Ferries to Reine")).to_have_attribute("tabindex", "-1")  # the keys of the list have come
    two.keyboard.press("ArrowDown")
    expect(listed(two, "Ferries to Reine")).to_be_focused()
    two.keyboard.press("ArrowRight")
    two.keyboard.press("Enter")
    expect(two.get_by_role("menuitem", name="Star", exact=True)).to_be_focused()
    two.keyboard.press("Enter")
    expect(group(two, "starred").get_by_role("link", name="Ferries to Reine", exact=True)).to_be_focused()
    two.keyboard.press("ArrowRight")
    two.keyboard.press("Enter")
    expect(two.get_by_role("menuitem", name="Unstar")).to_be_focused()
    two.keyboard.press("a")
    expect(two.get_by_role("menuitem", name="Archive")).to_be_focused()
    two.keyboard.press("Enter")
    expect(listed(two, "Ferries to Reine")).to_have_count(0)
    expect(listed(two, "Bread with caraway")).to_be_focused()


def test_without_javascript(two, open_page):
    plain = open_page("/", java_script_enabled=False, storage_state=two.context.storage_state())
    listed(plain, "Ferries to Reine").hover()
    plain.get_by_role("button", name="Actions for “Ferries to Reine”").click()
    plain.get_by_role("menuitem", name="Archive").click()
    expect(plain.get_by_text("A message brings it back into the list.")).to_be_visible()
    plain.goto("/conversations/archived/")
    plain.get_by_role("button", name="Take “Ferries to Reine” out of the archive").click()
    expect(plain.get_by_text("Nothing is archived.")).to_be_visible()
    expect(listed(plain, "Ferries to Reine")).to_be_visible()
