"""A person brings documents: to a conversation and to a scenario, by every way in, and sees the state of each."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.paused_parsing import HELD_AT, held_reading

from .document_actions import NOTES, add_documents, document_row, drop_files, file
from .page_actions import CONVERSATION_PATH, composer, messages, replies, say, wait_until


def wait_until_read(page: Page, name: str) -> None:
    expect(document_row(page, name)).to_contain_text("Ready")


def announcer(page: Page) -> Locator:
    return page.locator('[data-part="announcer"]')


def test_a_document_is_added_by_the_button_and_said_to_be_ready(page):
    add_documents(page, NOTES)
    wait_until_read(page, "notes.md")
    expect(document_row(page, "notes.md")).to_contain_text("1 passage")
    expect(announcer(page)).to_contain_text("notes.md: Ready")


def test_what_was_asked_before_its_document_was_read_is_asked_again_by_one_press(site, page):
    about = [f"Signal {number} of the lighthouse burns {number} seconds." for number in range(2 * HELD_AT)]
    records = json.dumps([{"title": f"Signal {number}", "about": text} for number, text in enumerate(about)])
    with held_reading(site.database):
        add_documents(page, ("signals.json", records))
        expect(document_row(page, "signals.json")).to_contain_text("Reading")
        reply = say(page, "How long does signal 150 of the lighthouse burn?")
        expect(reply.locator(".sources")).to_contain_text("One document was still being read")
    wait_until_read(page, "signals.json")
    reply.get_by_role("button", name="Ask again").click()
    expect(replies(page).last.locator(".sources")).to_contain_text("Sources: ")
    expect(page.get_by_role("button", name="Ask again")).to_have_count(0)


def test_a_document_begins_the_conversation_and_what_was_typed_stays(page):
    composer(page).fill("half a question")
    add_documents(page, NOTES)
    expect(page).to_have_url(CONVERSATION_PATH)
    page.reload()
    expect(document_row(page, "notes.md")).to_be_visible()
    expect(composer(page)).to_have_value("half a question")
    expect(page.locator("[data-entry]")).to_have_count(1)
    expect(page.locator("[data-entry]")).to_have_accessible_name("New conversation")


def test_a_question_goes_on_with_the_conversation_that_a_document_began(page):
    add_documents(page, NOTES)
    wait_until_read(page, "notes.md")
    say(page, "Since when does the lighthouse burn?")
    expect(messages(page)).to_have_count(2)
    expect(page.get_by_role("navigation").get_by_role("link", name="Since when")).to_have_count(1)


def test_the_chooser_opens_by_keyboard(page):
    # Choosers that Playwright is to hear of open for real now and then if keys come at once, unseen.
    chooser = page.locator('[data-part="chooser"]')
    chooser.evaluate("chooser => chooser.addEventListener('click', () => (chooser.dataset.isOpened = true))")
    composer(page).press_sequentially("/doc")
    expect(page.get_by_role("option", name="Add documents or pictures")).to_be_visible()
    composer(page).press("Enter")
    expect(chooser).to_have_attribute("data-is-opened", "true")


def test_files_are_dropped_anywhere_and_the_page_shows_where(page):
    zone = page.locator('[data-part="drop-zone"]')
    drop_files(page, "dragover", "one.txt")
    expect(zone).to_be_visible()
    drop_files(page, "drop", "one.txt", "two.txt")
    expect(zone).to_be_hidden()
    wait_until_read(page, "one.txt")
    wait_until_read(page, "two.txt")


def test_a_file_is_pasted(page):
    drop_files(page, "paste", "pasted.txt")
    expect(document_row(page, "pasted.txt")).to_be_visible()


def open_documents(page: Page) -> Locator:
    page.locator(".documents-summary").click()
    return page.get_by_role("dialog", name="Documents")


def test_many_documents_fold_into_one_chip_that_opens_them(page):
    add_documents(page, *[(f"chapter {number}.txt", f"Chapter {number} is short.") for number in range(5)])
    page.get_by_role("link", name="5 documents").click()
    panel = page.get_by_role("dialog", name="Documents")
    expect(panel.locator("[data-document]")).to_have_count(5)
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()


def test_what_cannot_be_read_says_why(page):
    add_documents(page, ("blank.txt", " \n "))
    expect(document_row(page, "blank.txt")).to_contain_text("There is no text in this document")


def test_a_file_that_failed_goes_after_a_while_but_not_while_it_is_looked_at(signed_in):
    page = signed_in()
    page.clock.install()
    page.reload()
    add_documents(page, ("empty.txt", ""))
    refused = page.locator(".uploads .upload", has_text="empty.txt")
    expect(refused).to_contain_text("There is no text in this document")
    refused.hover()
    page.clock.fast_forward(11_000)
    expect(refused).to_be_visible()
    page.mouse.move(0, 0)
    page.clock.fast_forward(11_000)
    expect(refused).to_have_count(0)


def test_a_file_that_was_here_already_is_shown_to_be(page):
    add_documents(page, NOTES)
    wait_until_read(page, "notes.md")
    add_documents(page, NOTES)
    sent = page.locator(".uploads .upload", has_text="notes.md")
    expect(sent).to_contain_text("Already here")
    sent.get_by_role("button", name="Remove it").click()
    expect(sent).to_have_count(0)
    expect(document_row(page, "notes.md")).to_have_count(1)


def test_what_is_refused_says_why_and_can_be_taken_away(page):
    add_documents(page, ("empty.txt", ""))
    refused = page.locator(".uploads .upload", has_text="empty.txt")
    expect(refused).to_contain_text("There is no text in this document")
    refused.get_by_role("button", name="Remove it").click()
    expect(refused).to_have_count(0)


def test_a_file_that_is_too_large_is_not_sent(page):
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    page.locator('[data-part="shelf"]').evaluate("shelf => { shelf.dataset.mostBytes = 10 }")
    add_documents(page, NOTES)
    expect(page.locator(".uploads")).to_contain_text("the most that a document may be here")
    assert not [url for url in sent if url.endswith("/documents/add/")]


def test_a_file_is_sent_again_once_the_server_is_back(page):
    page.route("**/documents/add/", lambda route: route.abort())
    add_documents(page, NOTES)
    expect(page.locator(".uploads")).to_contain_text("Can’t reach the server")
    page.unroute("**/documents/add/")
    page.get_by_role("button", name="Send it again").click()
    expect(document_row(page, "notes.md")).to_be_visible()
    expect(page.locator(".uploads .upload")).to_have_count(0)


def test_behind_a_file_that_is_one_too_many_none_is_sent_in_vain(page):
    sent = []

    def refuse(route):
        sent.append(route.request.url)
        route.fulfill(status=400, json={"code": "documents_too_many", "message": "There are 100 documents here."})

    page.route("**/documents/add/", refuse)
    add_documents(page, ("one.txt", "1"), ("two.txt", "2"), ("three.txt", "3"))
    expect(page.locator(".uploads .upload", has_text="There are 100 documents here.")).to_have_count(3)
    assert len(sent) == 1
    page.unroute("**/documents/add/")
    page.locator(".uploads .upload", has_text="two.txt").get_by_role("button", name="Send it again").click()
    expect(document_row(page, "two.txt")).to_be_visible()


def test_a_document_is_deleted_after_a_question(page):
    add_documents(page, NOTES)
    wait_until_read(page, "notes.md")
    panel = open_documents(page)
    panel.locator("summary", has=page.locator("use[href='#icon-delete']")).click()
    expect(page.get_by_text("Delete it permanently?")).to_be_visible()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(document_row(page, "notes.md")).to_have_count(0)
    page.reload()
    expect(document_row(page, "notes.md")).to_have_count(0)


def test_a_document_is_downloaded_as_it_was_sent(page):
    add_documents(page, NOTES)
    open_documents(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download notes.md").click()
    assert download.value.suggested_filename == "notes.md"
    assert download.value.path().read_text() == NOTES[1]


def test_another_tab_sees_it_when_a_user_comes_back_to_it(page):
    say(page, "A conversation")
    other = page.context.new_page()
    other.goto(page.url)
    add_documents(page, NOTES)
    expect(document_row(page, "notes.md")).to_be_visible()
    other.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(document_row(other, "notes.md")).to_be_visible()


def test_nothing_is_asked_for_while_nothing_moves(page):
    add_documents(page, NOTES)
    wait_until_read(page, "notes.md")
    expect(page.locator("#main [data-documents]")).not_to_have_attribute("hx-trigger", re.compile("every"))


def test_a_document_is_added_and_deleted_without_javascript(page, open_page):
    plain = open_page("/", java_script_enabled=False, storage_state=page.context.storage_state())
    plain.locator("summary", has_text="Add documents").click()
    plain.get_by_label("Files").set_input_files(file(*NOTES))
    plain.get_by_role("button", name="Add documents").click()
    expect(plain).to_have_url(CONVERSATION_PATH)
    expect(document_row(plain, "notes.md")).to_be_visible()
    plain.locator(".documents-summary").click()
    plain.locator("summary", has=plain.locator("use[href='#icon-delete']")).click()
    plain.get_by_role("button", name="Delete", exact=True).click()
    expect(document_row(plain, "notes.md")).to_have_count(0)


@pytest.fixture
def scenario_page(page):
    """The documents of a scenario that the person has just made."""
    open_documents_of_new_scenario(page)
    return page


def open_documents_of_new_scenario(page):
    page.goto("/scenarios/new/")
    page.get_by_label("Name", exact=True).fill("Guide")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Documents of Guide").click()
    page.wait_for_url("**/documents/")  # and until it is loaded: before the shell has started, a button does nothing


def test_a_scenario_brings_its_documents_to_its_conversations(scenario_page):
    page = scenario_page
    add_documents(page, NOTES)
    wait_until_read(page, "notes.md")
    page.goto("/scenarios/")
    page.get_by_role("link", name="Start a conversation with Guide").click()
    expect(page.get_by_text("Answers use 1 document from “Guide”")).to_be_visible()


def test_a_button_that_is_pressed_before_its_script_has_come_is_not_dead(page):
    held = []
    page.route("**/page_parts*", lambda route: held.append(route))
    open_documents_of_new_scenario(page)
    page.get_by_role("button", name="Add documents").first.click()
    with page.expect_file_chooser() as chosen:
        wait_until(page, lambda: held)
        for route in held:
            route.continue_()
    chosen.value.set_files([file(*NOTES)])
    wait_until_read(page, "notes.md")


def test_a_button_whose_script_does_not_come_says_so_and_asks_for_it_again(page):
    page.route("**/page_parts*", lambda route: route.abort())
    open_documents_of_new_scenario(page)
    page.get_by_role("button", name="Add documents").first.click()
    expect(page.get_by_text("Not opened: there is no connection.")).to_be_visible()
    page.unroute_all()
    add_documents(page, NOTES)
    wait_until_read(page, "notes.md")


def test_a_copy_of_a_scenario_says_that_documents_stay(scenario_page):
    page = scenario_page
    add_documents(page, NOTES)
    expect(document_row(page, "notes.md")).to_be_visible()
    page.goto("/scenarios/")
    page.get_by_role("link", name="Duplicate Guide").click()
    expect(page.get_by_text("has 1 document, which stays with it")).to_be_visible()


def test_the_pages_with_documents_fit_a_telephone(signed_in):
    page = signed_in(viewport={"width": 390, "height": 800})
    add_documents(page, ("long " * 40 + ".txt", "A name of 200 characters."), ("דוח שנתי.txt", "Read from the right."))
    wait_until_read(page, "דוח")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.goto(f"{page.url}documents/")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_nothing_is_asked_of_anybody_else(page, site):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    add_documents(page, NOTES)
    wait_until_read(page, "notes.md")
    assert [url for url in asked if not url.startswith((site.address, "blob:"))] == []
