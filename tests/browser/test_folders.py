"""Folders: by drag, by keyboard alone, with a scenario, folded in every visit, without JavaScript."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .document_actions import add_documents
from .page_actions import begin_another, choose_for_entry, composer, say


def listed(page, title):
    return page.get_by_role("navigation").get_by_role("link", name=title, exact=True)


def folder(page, name):
    return page.locator(".list-folder").filter(has=page.locator("summary", has_text=name))


@pytest.fixture
def in_work(page):
    """Two conversations, of which the first is in the folder “Work”; the page shows the second."""
    say(page, "Ferries to Reine")
    begin_another(page)
    say(page, "Bread with caraway")
    listed(page, "Ferries to Reine").focus()
    expect(listed(page, "Bread with caraway")).to_have_attribute("tabindex", "-1")  # the keys of the list have come
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Star", exact=True)).to_be_focused()
    page.keyboard.press("m")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Name of a new folder")).to_be_focused()
    page.keyboard.type("Work")
    page.keyboard.press("Enter")
    expect(folder(page, "Work").get_by_role("link", name="Ferries to Reine")).to_be_visible()
    expect(page.get_by_text("“Ferries to Reine” is in “Work” now.")).to_be_visible()
    return page


def test_by_keyboard_it_is_folded_in_every_visit_and_in_another_tab_a_move_is_seen_and_undone(in_work):
    other = in_work.context.new_page()
    other.goto("/usage/")
    expect(folder(other, "Work").get_by_role("link", name="Ferries to Reine")).to_be_visible()
    with in_work.expect_response("**/fold/"):  # the browser folds it before the server knows
        folder(in_work, "Work").locator("summary").press("Enter")
    expect(in_work.locator(".list-folder:not([open])")).to_have_count(1)
    expect(in_work.locator(".list-folder summary")).to_be_focused()
    in_work.reload()
    expect(listed(in_work, "Ferries to Reine")).to_have_count(0)
    folder(in_work, "Work").locator("summary").click()
    expect(listed(in_work, "Ferries to Reine")).to_be_visible()
    choose_for_entry(in_work, "Ferries to Reine", "Move to a folder")
    in_work.get_by_role("radio", name="No folder").check()
    in_work.get_by_role("button", name="Move", exact=True).click()
    for page in (in_work, other):
        expect(folder(page, "Work").get_by_role("link", name="Ferries to Reine")).to_have_count(0)
        expect(listed(page, "Ferries to Reine")).to_be_visible()
    in_work.get_by_role("button", name="Undo").click()
    expect(folder(other, "Work").get_by_role("link", name="Ferries to Reine")).to_be_visible()


def test_a_conversation_is_dragged_into_a_folder_and_out_of_it(in_work):
    listed(in_work, "Bread with caraway").drag_to(folder(in_work, "Work").locator("summary"))
    expect(folder(in_work, "Work").get_by_role("link", name="Bread with caraway")).to_be_visible()
    begin_another(in_work)
    say(in_work, "Trains to Bodø")
    expect(in_work.locator("[data-since]").get_by_role("link", name="Trains to Bodø", exact=True)).to_be_visible()
    listed(in_work, "Bread with caraway").drag_to(listed(in_work, "Trains to Bodø"))
    expect(folder(in_work, "Work").get_by_role("link", name="Bread with caraway")).to_have_count(0)
    expect(listed(in_work, "Bread with caraway")).to_be_visible()


def test_without_javascript_a_folder_with_a_scenario_begins_conversations_with_it(in_work, open_page):
    plain = open_page(
        "/conversations/folders/", java_script_enabled=False, storage_state=in_work.context.storage_state()
    )
    plain.get_by_label("Name").fill("Sums")
    plain.get_by_label("Scenario of conversations begun in it").select_option(label="With tools")
    plain.get_by_role("button", name="Create the folder").click()
    plain.get_by_role("main").get_by_role("link", name="New conversation").click()
    composer(plain).fill("What is 17 × 23?")
    plain.get_by_role("button", name="Send").click()
    expect(folder(plain, "Sums").get_by_role("link", name="What is 17 × 23?")).to_be_visible()
    expect(plain.get_by_role("button", name="Language model:")).to_contain_text("With tools")
    plain.goto("/conversations/folders/")
    plain.get_by_role("main").get_by_role("link", name="Sums").first.click()
    plain.get_by_role("link", name="Delete the folder").click()
    plain.get_by_role("button", name="Delete the folder").click()
    expect(listed(plain, "What is 17 × 23?")).to_be_visible()
    expect(folder(plain, "Sums")).to_have_count(0)


def test_a_document_of_a_folder_answers_in_its_conversations_and_says_so(in_work):
    in_work.goto("/conversations/folders/")
    in_work.get_by_role("main").get_by_role("link", name="Work", exact=True).click()
    expect(in_work.get_by_role("heading", level=1)).to_have_text("Work")
    add_documents(in_work, ("ferries.txt", "The ferry to Reine leaves at seven."))
    expect(in_work.get_by_role("listitem").filter(has_text="ferries.txt")).to_contain_text("Ready")
    in_work.get_by_role("main").get_by_role("link", name="Ferries to Reine").click()
    expect(in_work.get_by_text("Answers use 1 document from the folder “Work”.")).to_be_visible()
    reply = say(in_work, "When does the ferry to Reine leave?")
    reply.get_by_text("Sources: 1 passage").click()
    expect(reply.locator(".passage")).to_contain_text("from the folder")
    choose_for_entry(in_work, "Ferries to Reine", "Move to a folder")
    in_work.get_by_role("radio", name="No folder").check()
    in_work.get_by_role("button", name="Move", exact=True).click()
    expect(in_work.get_by_text("Answers use 1 document from the folder “Work”.")).to_have_count(0)
