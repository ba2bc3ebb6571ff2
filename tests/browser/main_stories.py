"""The main stories of the page, for every browser, language and transport: subclasses say on which page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from .page_actions import (
    CONVERSATION_PATH,
    composer,
    content_of,
    messages,
    named,
    press_action,
    replies,
    say,
    streaming,
    write,
)

WIDTH = "element => element.offsetWidth"


@pytest.mark.moving
class MainStories:
    """Talk, stop, reload, edit, look into the window, add a document, find a conversation again."""

    def test_a_name_is_told_and_quoted(self, page: Page):
        say(page, "My name is Andrew")
        expect(say(page, "What is my name?")).to_contain_text("Andrew")
        expect(page).to_have_url(CONVERSATION_PATH)
        listed = page.locator(".sidebar a[aria-current=page]", has_text="My name is Andrew")
        expect(listed).to_have_count(1)

    def test_a_reply_is_stopped_and_the_next_message_sent(self, page: Page):
        write(page, "count slowly to 2000")
        expect(streaming(page)).to_contain_text("5")
        page.get_by_role("button", name=named("Stop the reply")).first.click()
        expect(streaming(page)).to_have_count(0)
        expect(replies(page).last.locator("[data-state-note]")).to_have_text(named("You stopped this reply."))
        expect(say(page, "My name is Andrew")).to_be_visible()

    def test_a_page_that_is_loaded_again_in_mid_reply_follows_it_to_the_end(self, page: Page):
        write(page, "count slowly to 40")
        expect(streaming(page)).to_contain_text("9")
        page.reload()
        expect(streaming(page)).to_have_count(0)
        expect(replies(page).last).to_contain_text("39, 40")

    def test_markdown_is_drawn_the_same_while_it_streams_and_after_the_page_is_loaded_again(self, page: Page):
        reply = say(page, "show me markdown")
        drawn, width = content_of(reply), reply.locator("table").evaluate(WIDTH)
        page.reload()
        assert content_of(replies(page).last) == drawn
        expect(replies(page).last.locator("table")).to_have_js_property("offsetWidth", width)

    def test_a_message_is_edited_and_both_versions_are_kept(self, page: Page):
        say(page, "My name is Andrew")
        message = messages(page).first
        press_action(message, "edit")
        editor = message.get_by_role("textbox")
        editor.fill("My name is Carol")
        editor.press("Enter")
        expect(messages(page).first).to_contain_text("Carol")
        expect(streaming(page)).to_have_count(0)
        expect(messages(page).first.locator(".versions")).to_contain_text("2")

    def test_the_window_of_a_reply_is_shown(self, page: Page):
        say(page, "My name is Andrew").locator(".window-link").click()
        panel = page.get_by_role("dialog", name=named("What the model saw"))
        expect(panel.locator(".row-newest")).to_contain_text("My name is Andrew")
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()

    def test_a_document_is_added_and_quoted(self, page: Page, tmp_path):
        plan = tmp_path / "plan.md"
        plan.write_text("# Plan\n\nThe ferry to Barreiro leaves at nine from the river station.\n", encoding="utf-8")
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name=named("Add documents or pictures")).click()
        chooser.value.set_files(plan)
        expect(page.get_by_text("plan.md").first).to_be_visible()
        expect(say(page, "When does the ferry to Barreiro leave?")).to_contain_text("nine")

    @pytest.mark.parametrize("width", [390, 1280])
    def test_nothing_is_wider_than_the_page(self, page: Page, width):
        page.set_viewport_size({"width": width, "height": 800})
        say(page, "show me markdown")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        composer(page).fill("a" * 2_000)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
