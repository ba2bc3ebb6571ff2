"""Recently deleted: restore by keyboard, remove permanently, an address that is visited, other tabs, no JavaScript."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .page_actions import begin_another, choose_for_entry, goto_and_listen, open_account_menu, say


def listed(page, title):
    return page.get_by_role("navigation").get_by_role("link", name=title, exact=True)


@pytest.fixture
def one_deleted(page):
    """Two conversations, of which the first is deleted; the page shows the second. Return the address of the first."""
    say(page, "Ferries to Reine")
    address = page.url
    begin_another(page)
    say(page, "Bread with caraway")
    choose_for_entry(page, "Ferries to Reine", "Delete")
    expect(listed(page, "Ferries to Reine")).to_have_count(0)
    return address


def test_it_is_restored_by_keyboard_and_another_tab_sees_it(page, one_deleted):
    other = page.context.new_page()
    goto_and_listen(other, "/conversations/deleted/")
    open_account_menu(page)
    page.get_by_role("link", name="Folders, archive, deleted").click()
    page.get_by_role("link", name="Recently deleted").press("Enter")
    expect(page.get_by_role("main").get_by_text("Ferries to Reine")).to_be_visible()
    page.get_by_role("button", name="Restore “Ferries to Reine”").press("Enter")
    expect(page.get_by_text("“Ferries to Reine” is back in the list.")).to_be_visible()
    expect(listed(page, "Ferries to Reine")).to_be_visible()
    expect(listed(other, "Ferries to Reine")).to_be_visible()
    expect(other.get_by_text("Nothing was deleted recently.")).to_be_visible()


def test_its_address_says_that_it_is_deleted_and_offers_to_restore_it(page, one_deleted):
    assert page.goto(one_deleted).status == 404
    expect(page.get_by_role("heading", name="This conversation was deleted")).to_be_visible()
    page.get_by_role("button", name="Restore it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ferries to Reine")


def test_without_javascript_it_is_deleted_permanently(page, one_deleted, open_page):
    plain = open_page("/conversations/deleted/", java_script_enabled=False, storage_state=page.context.storage_state())
    plain.get_by_role("link", name="Delete “Ferries to Reine” permanently").click()
    plain.get_by_role("button", name="Delete it permanently now").click()
    expect(plain.get_by_text("Nothing was deleted recently.")).to_be_visible()
    assert plain.goto(one_deleted).status == 404
    expect(plain.get_by_text("Page not found")).to_have_count(1)
