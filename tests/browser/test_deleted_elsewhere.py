"""A conversation that was deleted in another tab: lists drop it, its open page says so, and undoing brings it back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .page_actions import (
    ask_for_menu,
    block_socket,
    choose_for_entry,
    composer,
    goto_and_listen,
    messages,
    say,
    wait_until,
    write,
)

DELETED = "This conversation was deleted."
GONE = "This conversation is gone: it was deleted."


def listed(page, title):
    return page.get_by_role("navigation").get_by_role("link", name=title, exact=True)


def heading(page):
    return page.get_by_role("heading", level=1)


def note(page):
    return page.locator('[data-part="deleted"]')


def press_delete(page, title):
    choose_for_entry(page, title, "Delete")


@pytest.fixture
def tabs(page):
    """Two tabs: the first shows “The second one”, the other “The first one”; a reload would take a mark off both."""
    say(page, "The first one")
    address = page.url
    page.goto("/")
    say(page, "The second one")
    other = page.context.new_page()
    goto_and_listen(other, address)
    expect(heading(other)).to_have_text("The first one")
    for each in (page, other):
        each.evaluate("() => { window.stays = true }")
    return page, other


def stays(page):
    return page.evaluate("window.stays === true")


def test_an_open_page_says_so_refuses_and_keeps_the_draft_and_undoing_it_there_brings_it_back(tabs):
    page, other = tabs
    composer(other).fill("half a thought")
    press_delete(page, "The first one")
    expect(note(other)).to_be_visible()
    expect(listed(other, "The first one")).to_have_count(0)
    expect(other.locator('[data-part="announcer"]')).to_have_text(DELETED)
    composer(other).press("Enter")
    expect(other.get_by_role("alert")).to_contain_text("What you have typed stays here; undo the deletion to send it.")
    expect(composer(other)).to_have_value("half a thought")
    note(other).get_by_role("button", name="Undo").click()
    expect(note(other)).to_be_hidden()
    expect(composer(other)).to_be_focused()
    expect(listed(other, "The first one")).to_be_visible()
    expect(listed(page, "The first one")).to_be_visible()
    composer(other).press("Enter")
    expect(messages(other)).to_have_count(4)
    assert stays(other)


def test_undoing_it_where_it_was_deleted_brings_it_back_everywhere(tabs):
    page, other = tabs
    press_delete(page, "The first one")
    expect(note(other)).to_be_visible()
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(heading(page)).to_have_text("The first one")
    expect(page.locator(".toast")).to_have_count(0)
    expect(note(other)).to_be_hidden()
    expect(listed(other, "The first one")).to_be_visible()
    assert stays(page)


def test_a_page_that_deletes_what_it_shows_goes_to_a_new_one_without_that_note(tabs):
    page, other = tabs
    page.evaluate(
        "() => new MutationObserver(() => { localStorage.seen = 'yes' })"
        ".observe(document.querySelector('[data-part=deleted]'), { attributes: true })"
    )
    press_delete(page, "The second one")
    expect(page.get_by_text("“The second one” is deleted.")).to_be_visible()
    expect(listed(other, "The second one")).to_have_count(0)
    assert page.evaluate("localStorage.seen") is None


def test_a_stale_entry_leads_nowhere_says_so_and_goes(tabs):
    page, other = tabs
    page.goto(page.url)
    block_socket(page)
    page.reload()  # it does not hear of it
    page.evaluate("() => { window.stays = true }")
    expect(listed(page, "The first one")).to_be_visible()
    composer(page).fill("half a thought")
    address = page.url
    press_delete(other, "The first one")
    expect(heading(other)).to_have_text("New conversation")
    listed(page, "The first one").click()
    expect(page.get_by_text(GONE)).to_be_visible()
    expect(listed(page, "The first one")).to_have_count(0)
    expect(heading(page)).to_have_text("The second one")
    expect(composer(page)).to_have_value("half a thought")
    assert page.url == address
    assert stays(page)


def test_it_is_deleted_twice_without_silence(tabs):
    page, other = tabs
    block_socket(page)
    page.reload()
    expect(listed(page, "The first one")).to_be_visible()
    press_delete(other, "The first one")
    expect(heading(other)).to_have_text("New conversation")
    ask_for_menu(page, "The first one")  # which the server no longer has
    expect(page.get_by_text(GONE)).to_be_visible()
    expect(listed(page, "The first one")).to_have_count(0)


def test_going_back_to_what_is_gone_stays_and_says_so(tabs):
    page, _ = tabs
    listed(page, "The first one").click()
    expect(heading(page)).to_have_text("The first one")
    listed(page, "The second one").click()
    expect(heading(page)).to_have_text("The second one")
    address = page.url
    press_delete(page, "The first one")
    expect(page.get_by_text("“The first one” is deleted.")).to_be_visible()
    page.go_back()
    expect(page.get_by_text(GONE)).to_be_visible()
    expect(heading(page)).to_have_text("The second one")
    assert page.url == address
    assert stays(page)


def test_a_page_that_did_not_hear_of_it_learns_it_when_it_sends(tabs):
    page, other = tabs
    block_socket(other)
    other.reload()
    expect(other.get_by_text("No live connection right now")).to_be_visible()
    press_delete(page, "The first one")
    expect(page.get_by_text("“The first one” is deleted.")).to_be_visible()
    write(other, "half a thought")
    expect(note(other)).to_be_visible()
    expect(composer(other)).to_have_value("half a thought")


def test_what_can_not_be_undone_any_more_offers_no_undo(tabs, site):
    page, other = tabs
    press_delete(page, "The first one")
    expect(note(other).get_by_role("button", name="Undo")).to_be_visible()
    [public_id] = re.findall(r"[0-9a-f-]{36}", other.url)
    site.run(
        f"from conversations.models import Conversation\nConversation.objects.filter(public_id='{public_id}').delete()"
    )
    note(other).get_by_role("button", name="Undo").click()
    expect(other.get_by_text(GONE)).to_be_visible()
    expect(note(other).get_by_role("button", name="Undo")).to_be_hidden()
    expect(note(other)).to_be_visible()
    expect(composer(other)).to_be_focused()
    composer(other).fill("half a thought")
    composer(other).press("Enter")
    expect(other.get_by_role("alert")).to_contain_text("can’t be brought back. Your text stays here")
    expect(composer(other)).to_have_value("half a thought")


def test_a_page_about_its_documents_says_so_too(tabs):
    page, other = tabs
    goto_and_listen(other, f"{other.url}documents/")
    press_delete(page, "The first one")
    expect(other.get_by_text(GONE)).to_be_visible()


def test_a_list_that_missed_it_is_brought_up_to_date_when_the_connection_is_back(tabs):
    page, other = tabs
    unblock = block_socket(page)
    page.reload()
    expect(page.get_by_text("No live connection right now")).to_be_visible()
    press_delete(other, "The first one")
    expect(heading(other)).to_have_text("New conversation")
    unblock()
    wait_until(page, lambda: not listed(page, "The first one").count())
