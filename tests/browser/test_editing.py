"""A message in other words, where it stands or on a page of its own; and the way back to what was said before."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from .page_actions import (
    block_socket,
    composer,
    content_of,
    go_to_message,
    lose_frames,
    messages,
    replies,
    say,
    streaming,
    wait_until,
)


def field(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Your message")


def open_editor(message: Locator) -> None:
    message.hover()
    message.get_by_role("link", name="Edit").click()
    expect(field(message.page)).to_be_focused()


def edit(message: Locator, content: str) -> None:
    open_editor(message)
    field(message.page).fill(content)
    field(message.page).press("Enter")


def shown(page: Page, *contents: str) -> None:
    """Wait until the page shows so many messages, and the questions among them are *contents*."""
    expect(page.locator('[data-role="user"] [data-content]')).to_have_text(list(contents))
    expect(messages(page)).to_have_count(2 * len(contents))
    expect(streaming(page)).to_have_count(0)


def versions(message: Locator) -> Locator:
    return message.get_by_role("group", name="Versions")


def test_a_press_with_alt_keeps_the_meaning_that_the_browser_gives_it(page):
    say(page, "My name is Andrew")
    messages(page).first.hover()
    with page.expect_download():
        messages(page).first.get_by_role("link", name="Edit").click(modifiers=["Alt"])
    expect(field(page)).to_have_count(0)


def test_an_edited_message_is_answered_again_and_the_old_version_comes_back(page):
    say(page, "My name is Andrew")
    say(page, "What is my name?")
    edit(messages(page).first, "My name is Matilda")
    shown(page, "My name is Matilda")
    expect(versions(messages(page).first)).to_contain_text("2 of 2")
    versions(messages(page).first).get_by_role("button", name="Previous version").click()
    shown(page, "My name is Andrew", "What is my name?")
    expect(replies(page).last).to_contain_text("Andrew")
    page.reload()
    shown(page, "My name is Andrew", "What is my name?")


def test_a_message_is_edited_by_keyboard_alone(page):
    say(page, "one")
    go_to_message(page, back=2)
    page.keyboard.press("e")
    expect(field(page)).to_be_focused()
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("and two")
    page.keyboard.press("Enter")
    expect(page.locator('[data-part="announcer"]')).to_contain_text("Sent as a new version")
    expect(versions(messages(page).first)).to_contain_text("2 of 2")
    assert content_of(messages(page).first).split() == ["one", "and", "two"]
    expect(messages(page).first).to_be_focused()


def test_escape_leaves_the_message_as_it_was(page):
    say(page, "one")
    open_editor(messages(page).first)
    field(page).fill("something else")
    field(page).press("Escape")
    expect(field(page)).to_have_count(0)
    shown(page, "one")
    open_editor(messages(page).first)
    expect(field(page)).to_have_value("one")


def test_a_refused_version_stays_in_its_field_with_the_reason(page):
    say(page, "one")
    edit(messages(page).first, "word " * 9_000)
    expect(page.locator(".editor").get_by_role("alert")).to_contain_text("tokens")
    expect(field(page)).to_have_value(re.compile("^word word"))
    page.reload()
    shown(page, "one")
    open_editor(messages(page).first)
    expect(field(page)).to_have_value(re.compile("^word word"))


def test_a_reply_that_was_made_again_can_be_compared_with_the_first(page):
    reply = say(page, "one")
    reply.get_by_role("button", name="Regenerate").click()
    expect(versions(replies(page).last)).to_contain_text("2 of 2")
    versions(replies(page).last).get_by_role("button", name="Previous version").click()
    expect(versions(replies(page).last)).to_contain_text("1 of 2")
    expect(replies(page).last).to_be_focused()
    shown(page, "one")


def test_another_tab_shows_the_new_version(page):
    say(page, "one")
    say(page, "two")
    other = page.context.new_page()
    other.goto(page.url)
    edit(messages(page).first, "1")
    shown(other, "1")


def test_a_tab_that_missed_the_new_version_finds_out(page):
    say(page, "one")
    say(page, "two")
    say(page, "three")
    other = page.context.new_page()
    lost = lose_frames(other, "message.stored")
    other.goto(page.url)
    shown(other, "one", "two", "three")
    edit(messages(page).first, "1")
    shown(other, "1")
    assert lost


def test_without_a_socket_it_goes_by_plain_http(page):
    say(page, "one")
    block_socket(page)
    page.reload()
    edit(messages(page).first, "1")
    shown(page, "1")


def test_who_writes_on_while_a_version_is_on_its_way_is_left_there(page):
    say(page, "one")
    block_socket(page)
    page.reload()
    held = []
    page.route("**/edit/", lambda route: held.append(route) if route.request.method == "POST" else route.continue_())
    edit(messages(page).first, "1")
    wait_until(page, lambda: held)
    composer(page).press_sequentially("and ")
    held[0].continue_()
    expect(field(page)).to_have_count(0)
    page.keyboard.type("then")
    expect(composer(page)).to_have_value("and then")


def test_without_script_a_form_of_its_own_does_it(signed_in):
    page = signed_in(java_script_enabled=False)
    composer(page).fill("one")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("link", name="What the model saw")).to_be_visible()
    page.get_by_role("link", name="Edit").click()
    field(page).fill("1")
    page.get_by_role("button", name="Send").click()
    expect(versions(messages(page).first)).to_contain_text("2 of 2")
    expect(page.get_by_role("link", name="What the model saw")).to_be_visible()
    page.get_by_role("button", name="Previous version").first.click()
    expect(page.locator('[data-role="user"] [data-content]')).to_have_text(["one"])
