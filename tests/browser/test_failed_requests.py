"""What is said when an action meets no connection, or a server that refuses or fails: nothing fails in silence."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .page_actions import say

OFFLINE = "Not done: there is no connection."
NOT_OPENED = "Not opened: there is no connection."


def listed(page, title):
    return page.get_by_role("navigation").get_by_role("link", name=title, exact=True)


def title_field(page):
    return page.get_by_label("Title", exact=True)


def open_rename(page, title):
    listed(page, title).hover()
    page.get_by_role("link", name=f"Rename “{title}”").click()


def press_delete(page, title):
    listed(page, title).hover()
    page.get_by_role("button", name=f"Delete “{title}”").click()


@pytest.fixture
def talk(page):
    say(page, "My name is Andrew")
    expect(listed(page, "My name is Andrew")).to_be_visible()
    return page


def test_a_dialog_that_cannot_be_opened_says_so_once_until_something_works(talk):
    talk.context.set_offline(True)
    for _ in range(2):
        open_rename(talk, "My name is Andrew")
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
    talk.context.set_offline(True)
    press_delete(talk, "My name is Andrew")
    expect(talk.get_by_role("status").filter(has_text=OFFLINE)).to_be_visible()
    expect(listed(talk, "My name is Andrew")).to_be_visible()
    talk.get_by_role("button", name="Close").click()
    expect(talk.get_by_text(OFFLINE)).to_have_count(0)


def test_the_same_is_said_on_a_page_beside_the_list(talk):
    talk.goto("/usage/")
    talk.context.set_offline(True)
    press_delete(talk, "My name is Andrew")
    expect(talk.get_by_role("status").filter(has_text=OFFLINE)).to_be_visible()


def test_a_phone_leaves_the_drawer_that_would_cover_what_is_said(signed_in):
    phone = signed_in(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    say(phone, "My name is Andrew")
    phone.get_by_role("button", name="Conversations").tap()
    phone.get_by_role("button", name="Actions for “My name is Andrew”").tap()
    phone.context.set_offline(True)
    phone.get_by_role("link", name="Rename").tap()
    expect(phone.get_by_text(NOT_OPENED)).to_be_visible()
    phone.get_by_text(NOT_OPENED).click(trial=True)  # nothing covers it


REFUSED = "<main><p role='alert'>Your allowance is used up.</p></main>"


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (500, "", "The server could not do this. Try again in a moment."),
        (502, "<html>Bad gateway</html>", "The server could not do this. Try again in a moment."),
        (404, "", "This conversation is gone: it was deleted."),
        (403, "<h1>Forbidden</h1>", "Not done: you have signed in again or out meanwhile."),
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
    expect(talk.get_by_role("dialog").get_by_role("alert")).to_contain_text("signed in again or out meanwhile")


def test_an_entry_that_is_gone_leaves_the_list(talk):
    talk.route("**/delete/", lambda route: route.fulfill(status=404, body=""))
    press_delete(talk, "My name is Andrew")
    expect(talk.get_by_text("This conversation is gone: it was deleted.")).to_be_visible()
    expect(listed(talk, "My name is Andrew")).to_have_count(0)
