"""The main stories in Firefox: talk, stop, reload, edit, look into the window, add a document, at two widths."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.page_actions import CONVERSATION_PATH, composer, content_of, messages, replies, say, streaming, write

pytestmark = pytest.mark.moving


def test_it_is_firefox(page):
    assert "Firefox/" in page.evaluate("navigator.userAgent")


def test_a_name_is_told_and_quoted(page):
    say(page, "My name is Andrew")
    expect(say(page, "What is my name?")).to_contain_text("Andrew")
    expect(page).to_have_url(CONVERSATION_PATH)
    listed = page.get_by_role("navigation").get_by_role("link", name="My name is Andrew", exact=True)
    expect(listed).to_have_attribute("aria-current", "page")


def test_a_reply_is_stopped_and_the_next_message_sent(page):
    write(page, "count slowly to 2000")
    expect(streaming(page)).to_contain_text("5")
    page.get_by_role("button", name="Stop").first.click()
    expect(streaming(page)).to_have_count(0)
    expect(replies(page).last).to_contain_text("You stopped this reply.")
    expect(say(page, "My name is Andrew")).to_be_visible()


def test_a_page_that_is_loaded_again_in_mid_reply_follows_it_to_the_end(page):
    write(page, "count slowly to 40")
    expect(streaming(page)).to_contain_text("9")
    page.reload()
    expect(streaming(page)).to_have_count(0)
    expect(replies(page).last).to_contain_text("39, 40")


def test_markdown_is_drawn_the_same_while_it_streams_and_after_the_page_is_loaded_again(page):
    reply = say(page, "show me markdown")
    drawn = content_of(reply)
    page.reload()
    assert content_of(replies(page).last) == drawn


def test_a_message_is_edited_and_both_versions_are_kept(page):
    say(page, "My name is Andrew")
    message = messages(page).first
    message.get_by_role("button", name="Actions").click()  # without a screen Firefox has no pointer that could hover
    page.get_by_role("dialog", name="You").get_by_role("button", name="Edit").click()
    editor = message.get_by_role("textbox")
    editor.fill("My name is Carol")
    editor.press("Enter")
    expect(messages(page).first).to_contain_text("Carol")
    expect(streaming(page)).to_have_count(0)
    expect(messages(page).first).to_contain_text("2 of 2")


def test_the_window_of_a_reply_is_shown(page):
    say(page, "My name is Andrew").get_by_role("link", name="What the model saw").click()
    panel = page.get_by_role("dialog", name="What the model saw")
    expect(panel.locator(".row-newest")).to_contain_text("My name is Andrew")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()


def test_a_document_is_added_and_quoted(page, tmp_path):
    plan = tmp_path / "plan.md"
    plan.write_text("# Plan\n\nThe ferry to Barreiro leaves at nine from the river station.\n", encoding="utf-8")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add documents").click()
    chooser.value.set_files(plan)
    expect(page.get_by_text("plan.md").first).to_be_visible()
    expect(say(page, "When does the ferry to Barreiro leave?")).to_contain_text("nine")


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_page(signed_in, width):
    page: Page = signed_in(viewport={"width": width, "height": 800})
    say(page, "show me markdown")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    composer(page).fill("a" * 2_000)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
