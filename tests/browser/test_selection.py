"""Several conversations are selected in the list, by pointer and keys; what is done with them is undone as one."""

from __future__ import annotations

from zipfile import ZipFile

import pytest
from playwright.sync_api import expect

from .page_actions import begin_another, choose_for_entry, say

TITLES = ["Ferries to Reine", "Bread with caraway", "Trains to Bodø"]


def listed(page, title):
    return page.get_by_role("navigation").get_by_role("link", name=title, exact=True)


def bar(page):
    return page.get_by_role("toolbar", name="Selected conversations")


@pytest.fixture
def three(page):
    for title in TITLES:
        say(page, title)
        if title != TITLES[-1]:
            begin_another(page)
    return page


def test_a_range_is_deleted_offline_says_so_and_undo_brings_all_back(three):
    choose_for_entry(three, "Trains to Bodø", "Select several")
    expect(bar(three).get_by_role("status")).to_have_text("1 selected")
    address = three.url
    listed(three, "Ferries to Reine").click(modifiers=["Shift"])
    expect(bar(three).get_by_role("status")).to_have_text("3 selected")
    assert three.url == address
    listed(three, "Trains to Bodø").click()
    expect(bar(three).get_by_role("status")).to_have_text("2 selected")
    three.context.set_offline(True)
    bar(three).get_by_role("button", name="Delete").click()
    expect(three.get_by_text("Not done: there is no connection.")).to_be_visible()
    expect(bar(three).get_by_role("status")).to_have_text("2 selected")
    three.context.set_offline(False)
    bar(three).get_by_role("button", name="Export").click()
    with three.expect_download() as download:
        three.get_by_role("dialog").get_by_role("button", name="Markdown").click()
    assert len(ZipFile(download.value.path()).namelist()) == 2
    three.get_by_role("dialog").get_by_role("link", name="Close").click()
    bar(three).get_by_role("button", name="Delete").click()
    expect(three.get_by_text("2 conversations are deleted.")).to_be_visible()
    expect(bar(three)).to_have_count(0)
    expect(listed(three, "Ferries to Reine")).to_have_count(0)
    three.get_by_role("button", name="Undo").click()
    for title in TITLES:
        expect(listed(three, title)).to_be_visible()


def test_by_keyboard_all_are_archived_or_none(three):
    choose_for_entry(three, "Trains to Bodø", "Select several")
    expect(listed(three, "Trains to Bodø")).to_be_focused()
    three.keyboard.press("Control+a")
    expect(bar(three).get_by_role("status")).to_have_text("3 selected")
    three.keyboard.press("Space")
    expect(bar(three).get_by_role("status")).to_have_text("2 selected")
    bar(three).get_by_role("button", name="Archive").press("Enter")
    expect(three.get_by_text("2 conversations are archived.")).to_be_visible()
    expect(listed(three, "Ferries to Reine")).to_have_count(0)
    choose_for_entry(three, "Trains to Bodø", "Select several")
    expect(bar(three)).to_be_visible()
    three.keyboard.press("Escape")
    expect(bar(three)).to_have_count(0)
    expect(three.get_by_role("checkbox")).to_have_count(0)


def test_without_javascript(three, open_page):
    plain = open_page("/conversations/select/", java_script_enabled=False, storage_state=three.context.storage_state())
    for title in TITLES[:2]:
        plain.get_by_role("checkbox", name=title).check()
    plain.get_by_role("main").get_by_role("button", name="Star").click()
    expect(plain.locator('[data-kind="starred"] .entry')).to_have_count(2)
