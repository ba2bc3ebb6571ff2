"""What is said when an action meets no connection, or a server that refuses or fails: nothing fails in silence."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.support.paused_parsing import HELD_AT, held_reading

from .document_actions import add_documents, document_row
from .page_actions import ask_for_menu, choose_for_entry, say, wait_until

OFFLINE = "Not done: there is no connection."
NOT_OPENED = "Not opened: there is no connection."
UNANSWERED = "No answer from the server, so this may not have been done."
DOCUMENTS = re.compile("/documents/")
NOTE_REQUESTS = """() => {
  window.noted = [];
  document.addEventListener("htmx:afterRequest", ({ detail: { requestConfig, successful } }) => {
    window.noted.push([requestConfig.path, Boolean(successful)]);
  });
}"""


def listed(page, title):
    return page.get_by_role("navigation").get_by_role("link", name=title, exact=True)


def title_field(page):
    return page.get_by_label("Title", exact=True)


def open_rename(page, title):
    choose_for_entry(page, title, "Rename")


def press_delete(page, title):
    choose_for_entry(page, title, "Delete")


def note_requests(page):
    """Note how each request ends from now on, once the page has been told of that."""
    page.evaluate(NOTE_REQUESTS)


def failures(page, address=re.compile("")):
    return sum(bool(address.search(asked)) for asked, is_successful in page.evaluate("noted") if not is_successful)


def answers(page, address):
    return sum(bool(address.search(asked)) for asked, is_successful in page.evaluate("noted") if is_successful)


@pytest.fixture
def talk(page):
    say(page, "My name is Andrew")
    expect(listed(page, "My name is Andrew")).to_be_visible()
    return page


def test_a_dialog_that_cannot_be_opened_says_so_once_until_something_works(talk):
    note_requests(talk)
    talk.context.set_offline(True)
    for _ in range(2):
        failed = failures(talk)
        ask_for_menu(talk, "My name is Andrew")
        wait_until(talk, lambda failed=failed: failures(talk) > failed)
        expect(talk.get_by_text(NOT_OPENED)).to_be_visible()
    expect(talk.get_by_text(NOT_OPENED)).to_have_count(1)
    talk.context.set_offline(False)
    open_rename(talk, "My name is Andrew")
    expect(title_field(talk)).to_be_focused()
    expect(talk.get_by_text(NOT_OPENED)).to_have_count(0)


def test_a_title_that_cannot_be_saved_stays_in_its_dialog_and_is_saved_later(talk):
    open_rename(talk, "My name is Andrew")
    title_field(talk).fill("Names")
    talk.context.set_offline(True)
    title_field(talk).press("Enter")
    expect(talk.get_by_role("dialog").get_by_role("alert").filter(has_text=OFFLINE)).to_be_visible()
    expect(title_field(talk)).to_have_value("Names")
    expect(title_field(talk)).to_be_focused()
    talk.context.set_offline(False)
    title_field(talk).press("Enter")
    expect(listed(talk, "Names")).to_be_visible()
    expect(talk.get_by_text(OFFLINE)).to_have_count(0)


def test_a_deletion_without_a_connection_says_so_and_the_entry_stays(talk):
    ask_for_menu(talk, "My name is Andrew")
    delete = talk.get_by_role("menuitem", name="Delete")
    delete.wait_for()
    talk.context.set_offline(True)
    delete.click()
    expect(talk.get_by_role("status").filter(has_text=OFFLINE)).to_be_visible()
    expect(listed(talk, "My name is Andrew")).to_be_visible()
    talk.get_by_role("button", name="Close").click()
    expect(talk.get_by_text(OFFLINE)).to_have_count(0)


def test_the_same_is_said_on_a_page_beside_the_list(talk):
    talk.goto("/usage/")
    ask_for_menu(talk, "My name is Andrew")
    delete = talk.get_by_role("menuitem", name="Delete")
    delete.wait_for()
    talk.context.set_offline(True)
    delete.click()
    expect(talk.get_by_role("status").filter(has_text=OFFLINE)).to_be_visible()


def test_a_list_that_asks_by_itself_neither_repeats_what_is_said_nor_takes_it_away(site, talk):
    facts = [{"about": f"Signal {number} burns {number} seconds."} for number in range(2 * HELD_AT)]
    with held_reading(site.database):
        add_documents(talk, ("signals.json", json.dumps(facts)))
        expect(document_row(talk, "signals.json")).to_contain_text("Reading")
        note_requests(talk)
        talk.context.set_offline(True)
        ask_for_menu(talk, "My name is Andrew")
        said = talk.locator(".toast", has_text=NOT_OPENED).element_handle()
        failed = failures(talk, DOCUMENTS)
        wait_until(talk, lambda: failures(talk, DOCUMENTS) >= failed + 2)
        assert said.evaluate("toast => toast.isConnected")
        talk.context.set_offline(False)
        wait_until(talk, lambda: answers(talk, DOCUMENTS) >= 2)
        assert said.evaluate("toast => toast.isConnected")


def test_what_was_sent_without_an_answer_may_have_been_done(talk):
    open_rename(talk, "My name is Andrew")
    title_field(talk).fill("Names")
    talk.evaluate("() => { htmx.config.timeout = 100 }")
    sent = []
    talk.on("request", lambda request: sent.append(request) if request.url.endswith("/rename/") else None)
    talk.route("**/rename/", lambda route: None)  # it may be given up before this has it
    title_field(talk).press("Enter")
    expect(talk.get_by_role("dialog").get_by_role("alert").filter(has_text=UNANSWERED)).to_be_visible()
    wait_until(talk, lambda: sent)
    assert len(sent) == 1
    expect(title_field(talk)).to_have_value("Names")


def test_a_phone_leaves_the_drawer_that_would_cover_what_is_said(signed_in):
    phone = signed_in(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    say(phone, "My name is Andrew")
    phone.get_by_role("button", name="Conversations").tap()
    phone.get_by_role("button", name="Actions for “My name is Andrew”").tap()
    rename = phone.get_by_role("menuitem", name="Rename")
    rename.wait_for()
    phone.context.set_offline(True)
    rename.tap()
    expect(phone.get_by_text(NOT_OPENED)).to_be_visible()
    phone.get_by_text(NOT_OPENED).click(trial=True)  # nothing covers it


REFUSED = "<main><p role='alert'>Your allowance is used up.</p></main>"


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (500, "", "The server could not do this. Try again in a moment."),
        (502, "<html>Bad gateway</html>", "The server could not do this. Try again in a moment."),
        (404, "", "This conversation is gone: it was deleted."),
        (403, "<h1>Forbidden</h1>", "Not done: you signed in again, or out, in another tab."),
        (429, REFUSED, "Your allowance is used up."),
        (418, "", "The server has refused this."),
    ],
)
def test_each_refusal_has_words_and_what_was_typed_stays(talk, status, body, said):
    open_rename(talk, "My name is Andrew")
    title_field(talk).fill("Names")
    talk.route("**/rename/", lambda route: route.fulfill(status=status, body=body, content_type="text/html"))
    title_field(talk).press("Enter")
    expect(talk.get_by_role("dialog").get_by_role("alert").filter(has_text=said)).to_be_visible()
    expect(title_field(talk)).to_have_value("Names")
    expect(title_field(talk)).to_be_focused()


def test_a_title_whose_session_has_changed_is_not_saved_in_silence(talk):
    """The token of the page is of another session: the page was open for too long."""
    open_rename(talk, "My name is Andrew")
    title_field(talk).fill("Names")
    talk.context.clear_cookies(name="csrftoken")
    talk.evaluate("document.querySelectorAll('[name=csrfmiddlewaretoken]').forEach(e => { e.value = '' })")
    title_field(talk).press("Enter")
    expect(talk.get_by_role("dialog").get_by_role("alert")).to_contain_text("signed in again, or out, in another tab")


def test_an_entry_that_is_gone_leaves_the_list(talk):
    talk.route("**/delete/", lambda route: route.fulfill(status=404, body=""))
    press_delete(talk, "My name is Andrew")
    expect(talk.get_by_text("This conversation is gone: it was deleted.")).to_be_visible()
    expect(listed(talk, "My name is Andrew")).to_have_count(0)
    expect(talk.get_by_role("link", name="New conversation")).to_be_focused()


def test_a_panel_whose_styles_do_not_come_stays_closed_and_opens_later(talk):
    talk.route("**/window*.css", lambda route: route.abort())
    panel = talk.get_by_role("dialog", name="What the model saw")
    talk.get_by_role("link", name="What the model saw").click()
    expect(talk.get_by_text(NOT_OPENED)).to_be_visible()
    expect(panel).to_be_hidden()
    talk.unroute("**/window*.css")
    talk.get_by_role("link", name="What the model saw").click()
    expect(panel).to_be_visible()
