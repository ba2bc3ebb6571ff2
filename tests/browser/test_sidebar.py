"""The sidebar: search by title, one tab stop with arrow keys, one menu for the account and the site."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from .page_actions import composer, open_account_menu, say, wait_until
from .sidebar_actions import heading, listed, new_conversation


@pytest.fixture
def three(page):
    for content in ("Ferries to Reine", "Bread with caraway", "Trains to Bodø"):
        say(page, content)
        if content != "Trains to Bodø":
            new_conversation(page)
    expect(listed(page, "Trains to Bodø")).to_be_visible()
    return page


def test_the_list_is_one_stop_of_the_tab_key_and_arrows_go_on(three):
    three.get_by_role("link", name="New conversation").focus()
    expect(listed(three, "Ferries to Reine")).to_have_attribute("tabindex", "-1")  # the keys of the list have come
    three.keyboard.press("Tab")
    expect(listed(three, "Trains to Bodø")).to_be_focused()
    three.keyboard.press("ArrowDown")
    expect(listed(three, "Bread with caraway")).to_be_focused()
    three.keyboard.press("End")
    expect(listed(three, "Ferries to Reine")).to_be_focused()
    three.keyboard.press("ArrowRight")
    expect(three.get_by_role("button", name="Actions for “Ferries to Reine”")).to_be_focused()
    three.keyboard.press("Escape")
    expect(listed(three, "Ferries to Reine")).to_be_focused()
    three.keyboard.press("Tab")
    expect(three.locator(".sidebar-account")).to_be_focused()
    three.keyboard.press("Shift+Tab")
    expect(listed(three, "Ferries to Reine")).to_be_focused()
    three.keyboard.press("Enter")
    expect(heading(three)).to_have_text("Ferries to Reine")
    expect(composer(three)).to_be_focused()


def test_the_stop_is_what_had_the_focus_before_the_keys_of_the_list_came(three):
    held: list[Route] = []
    three.route("**/list_tools*.js", lambda route: held.append(route))
    three.reload()
    listed(three, "Ferries to Reine").focus()
    wait_until(three, lambda: held)
    held[0].continue_()
    expect(listed(three, "Trains to Bodø")).to_have_attribute("tabindex", "-1")
    expect(listed(three, "Ferries to Reine")).not_to_have_attribute("tabindex", "-1")


def test_one_menu_holds_what_is_about_the_account_and_the_site(page):
    expect(page.get_by_role("link", name="Scenarios")).to_be_hidden()
    open_account_menu(page)
    expect(page.get_by_role("link", name="Your usage")).to_be_visible()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Scenarios")).to_be_hidden()
    open_account_menu(page)
    page.get_by_role("button", name="Help and keys").click()
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()
