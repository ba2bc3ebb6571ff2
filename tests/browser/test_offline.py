"""The network goes in the middle of what one does: each action says so, loses no text, and works again later."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from .document_actions import drop_files
from .page_actions import (
    ask_for_long_reply,
    begin_another,
    choose_for_entry,
    choose_scenario,
    composer,
    messages,
    open_account_menu,
    open_menu,
    replies,
    say,
    write,
)
from .picture_actions import CAT, attached_pictures, bring_pictures
from .suggestion_actions import option

BANNER = "No connection to the server."
UNREACHABLE = "Can’t reach the server."
NOT_DONE = "Not done: there is no connection."
NOT_OPENED = "Not opened: there is no connection."
NO_CONVERSATION = "No connection: the conversation could not be opened."
QUESTION, OTHER = "My name is Andrew", "The other one"


def listed(page: Page, title: str) -> Locator:
    return page.get_by_role("navigation").get_by_role("link", name=title, exact=True)


def go_offline(page: Page) -> None:
    page.context.set_offline(True)
    expect(page.get_by_text(BANNER)).to_be_visible()


def title_item(page: Page, name: str) -> Locator:
    page.get_by_role("heading", level=1).get_by_role("button").click()
    return page.get_by_role("menu", name="This conversation").get_by_role("menuitem", name=name)


def last_reply_item(page: Page, name: str, role: str = "menuitem") -> Locator:
    return open_menu(replies(page).last).get_by_role(role, name=name)


def press_in_menu(page: Page, name: str) -> None:
    open_account_menu(page)
    page.get_by_role("button", name=name).click()


def follow_from_menu(page: Page, name: str) -> None:
    open_account_menu(page)
    page.get_by_role("link", name=name).click()


def press_on_reply(page: Page, name: str) -> None:
    replies(page).last.hover()
    replies(page).last.get_by_role("button", name=name, exact=True).click()


# What is done without a connection, and what is said. A dialog that is open already is in another test.
ACTIONS: dict[str, tuple[Callable[[Page], None], str]] = {
    "rename": (lambda page: title_item(page, "Rename").click(), NOT_OPENED),
    "notes": (lambda page: title_item(page, "Notes").click(), NOT_OPENED),
    "delete": (lambda page: title_item(page, "Delete").click(), NOT_DONE),
    "pin": (lambda page: last_reply_item(page, "Pin", "menuitemcheckbox").click(), UNREACHABLE),
    "exclude": (lambda page: last_reply_item(page, "Exclude", "menuitemcheckbox").click(), UNREACHABLE),
    "rate": (lambda page: press_on_reply(page, "Good reply"), UNREACHABLE),
    "branch": (lambda page: last_reply_item(page, "Branch from here").click(), NOT_DONE),
    "edit": (lambda page: messages(page).first.get_by_role("link", name="Edit").click(), UNREACHABLE),
    "regenerate": (lambda page: press_on_reply(page, "Regenerate"), UNREACHABLE),
    "scenario": (lambda page: choose_scenario(page, "With tools"), UNREACHABLE),
    "inspector": (lambda page: page.get_by_role("link", name="What the model saw").last.click(), NOT_OPENED),
    "preview": (lambda page: page.get_by_role("button", name="What would be sent").press("Enter"), NOT_OPENED),
    "language": (lambda page: press_in_menu(page, "简体中文"), NOT_DONE),
    "search": (lambda page: page.get_by_role("link", name="Search", exact=True).click(), NOT_OPENED),
    "conversation": (lambda page: listed(page, OTHER).click(), NO_CONVERSATION),
    "new conversation": (lambda page: page.get_by_role("link", name="New conversation").click(), NO_CONVERSATION),
    "page": (lambda page: follow_from_menu(page, "Usage"), NOT_OPENED),
    "sign-out": (lambda page: press_in_menu(page, "Sign out"), NOT_DONE),
    "document": (lambda page: drop_files(page, "drop", "notes.md"), UNREACHABLE),
    "picture": (lambda page: bring_pictures(page, "paste", cat=CAT), UNREACHABLE),
}


@pytest.fixture
def talk(page: Page) -> Page:
    say(page, OTHER)
    begin_another(page)
    say(page, QUESTION)
    expect(listed(page, QUESTION)).to_be_visible()
    composer(page).fill("half a thought")
    page.evaluate("() => { window.stays = true }")
    return page


def stays(page: Page) -> bool:
    return bool(page.evaluate("window.stays === true"))


@pytest.mark.parametrize("name", list(ACTIONS))
def test_what_is_done_without_a_connection_says_so_and_leaves_the_page_and_the_draft(talk, name):
    address = talk.url
    do, said = ACTIONS[name]
    go_offline(talk)
    do(talk)
    expect(talk.get_by_text(said).first).to_be_visible()
    expect(composer(talk)).to_have_value("half a thought")
    expect(talk.get_by_text("no answer")).to_have_count(0)
    assert stays(talk)
    assert talk.url == address
    talk.context.set_offline(False)
    expect(talk.get_by_text(BANNER)).to_be_hidden()
    if name == "picture":
        talk.get_by_role("button", name="Send it again").click()
        expect(attached_pictures(talk)).to_have_count(1)
    composer(talk).press("Enter")
    expect(messages(talk)).to_have_count(4)


def test_a_message_says_at_once_that_it_waits_and_is_sent_when_the_connection_is_back(talk):
    go_offline(talk)
    composer(talk).press("Enter")
    expect(talk.get_by_role("alert")).to_contain_text(UNREACHABLE)
    expect(composer(talk)).to_have_value("half a thought")
    talk.context.set_offline(False)
    expect(talk.get_by_text(UNREACHABLE)).to_be_hidden()
    composer(talk).press("Enter")
    expect(messages(talk)).to_have_count(4)


def test_a_reply_goes_on_and_stop_says_that_it_did_not_arrive(page):
    ask_for_long_reply(page)
    go_offline(page)
    page.get_by_role("button", name="Stop the reply").click()
    expect(page.get_by_role("alert")).to_contain_text(UNREACHABLE)
    page.context.set_offline(False)
    expect(page.get_by_text(BANNER)).to_be_hidden()
    page.get_by_role("button", name="Stop the reply").click()
    expect(page.locator('[data-state="streaming"]')).to_have_count(0)


def test_a_version_that_cannot_be_sent_stays_in_its_editor(talk):
    messages(talk).first.hover()
    messages(talk).first.get_by_role("link", name="Edit").click()
    editor = messages(talk).first.get_by_role("textbox")
    editor.fill("My name is Beatrice")
    go_offline(talk)
    editor.press("Enter")
    expect(messages(talk).first.get_by_role("alert")).to_contain_text(UNREACHABLE)
    expect(editor).to_have_value("My name is Beatrice")
    talk.context.set_offline(False)
    expect(talk.get_by_text(BANNER)).to_be_hidden()
    editor.press("Enter")
    expect(messages(talk).first).to_contain_text("My name is Beatrice")


def test_a_remark_that_cannot_be_kept_stays_where_it_was_written(talk):
    press_on_reply(talk, "Good reply")
    remark = talk.get_by_label("What makes it so?")
    remark.fill("It knows my name.")
    go_offline(talk)
    form = talk.locator("#remark")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("alert")).to_contain_text(UNREACHABLE)
    expect(remark).to_have_value("It knows my name.")
    talk.context.set_offline(False)
    form.get_by_role("button", name="Save").click()
    expect(form).to_be_hidden()


def test_a_prompt_that_cannot_be_saved_stays_in_its_dialog(talk):
    composer(talk).fill("")
    composer(talk).press_sequentially("/save")
    expect(option(talk, "Save what is written as a prompt")).to_be_visible()
    composer(talk).press("Enter")
    dialog = talk.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("Report")
    dialog.get_by_label("Text").fill("Sum up the week.")
    talk.context.set_offline(True)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text(NOT_DONE)
    expect(dialog.get_by_label("Text")).to_have_value("Sum up the week.")
    talk.context.set_offline(False)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()


def test_a_deletion_that_cannot_be_undone_now_keeps_its_button(talk):
    choose_for_entry(talk, OTHER, "Delete")
    undo = talk.get_by_role("status").get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    go_offline(talk)
    undo.click()
    expect(talk.get_by_text(NOT_DONE)).to_be_visible()
    talk.context.set_offline(False)
    expect(talk.get_by_text(BANNER)).to_be_hidden()
    undo.click()
    expect(talk.get_by_role("heading", level=1)).to_have_text(OTHER)


def test_a_form_of_a_page_beside_the_list_keeps_what_was_typed(page):
    page.goto("/scenarios/new/")
    page.get_by_label("Name", exact=True).fill("Guide")
    page.context.set_offline(True)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text(NOT_DONE)).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Guide")
    page.context.set_offline(False)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("link", name="Documents of Guide")).to_be_visible()


def test_a_network_that_swallows_everything_is_spoken_of_while_the_message_waits(page):
    held = []
    page.route("**/messages/post/", lambda route: held.append(route))
    write(page, "into the silence")
    expect(page.get_by_role("alert")).to_contain_text(re.compile("has not answered yet. Your text is kept here"))
    expect(composer(page)).to_have_value("into the silence")
    held[0].continue_()
    expect(replies(page)).to_have_count(1)
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(composer(page)).to_have_value("")
