"""Recall as people see it: the mark of a recalled message, the panel, the way from there to it, and “Don't recall”."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from .page_actions import composer, content_of, messages, open_menu, replies, say, scroll_up_to, wait_until

SECRET = "My sister Ada lives in Bergen and keeps the lighthouse."
QUESTION = "Where does my sister Ada keep the lighthouse?"
CLOSE_WHEN_PART_IS_REPLACED = """
const panel = document.querySelector("#inspector");
panel.addEventListener("htmx:afterSwap", () => panel.close(), { once: true });
panel.addEventListener("htmx:afterSettle", () => { window.opensAgain = panel.open; }, { once: true });
"""
WIDER_THAN_THE_PANEL = """
panel => [...panel.querySelectorAll("*")].filter(each => each.getBoundingClientRect().right > panel.clientWidth + 1)
  .map(each => each.outerHTML.slice(0, 100))
"""
TALK_ON = """
from conversations.models import Conversation
from conversations.services.message_index.index_messages import index_conversation
from conversations.services.portability.chat_history import ChatHistory
conversation = Conversation.objects.get(public_id="{public_id}")
history = ChatHistory(conversation)
for number in range({questions}):
    history.add("user", f"We talked about garden {{number}}, roof {{number}} and river {{number}}. " * 6)
    history.add("assistant", f"That was evening {{number}}, and it rained on the roof. " * 8)
index_conversation(conversation.pk)
"""
INDEX = """
from conversations.models import Conversation
from conversations.services.message_index.index_messages import index_conversation
index_conversation(Conversation.objects.get(public_id="{public_id}").pk)
"""


@pytest.fixture
def asked(page: Page, site) -> Page:
    """A conversation whose first message has left the window, and is recalled for the question asked last."""
    say(page, SECRET)
    site.run(TALK_ON.format(public_id=page.url.rstrip("/").rpartition("/")[2], questions=40))
    page.reload()
    say(page, QUESTION)
    return page


def secret(page: Page) -> Locator:
    return messages(page).filter(has_text=SECRET).first


def open_panel(page: Page) -> Locator:
    replies(page).last.get_by_role("link", name="What the model saw").click()
    panel = page.get_by_role("dialog", name="What the model saw")
    expect(panel.get_by_role("heading", name="Recalled")).to_be_visible()
    return panel


def row_of_secret(panel: Locator) -> Locator:
    return panel.locator(".row-recall").filter(has_text=SECRET)


def test_a_recalled_message_is_marked_told_and_reached(asked):
    page = asked
    number = re.search(r"Recalled message (\d+) of ", content_of(replies(page).last))
    assert number
    panel = open_panel(page)
    expect(row_of_secret(panel)).to_contain_text(f"{number[1]} · You")
    expect(row_of_secret(panel)).to_contain_text("found by the words “sister”, “Ada”, “keep”, “lighthouse”")
    row_of_secret(panel).get_by_role("link", name="Go to").click()
    expect(secret(page)).to_be_in_viewport()
    expect(secret(page)).to_have_attribute("data-mark", "recalled")
    expect(secret(page).locator(".mark")).to_have_attribute("title", "Recalled for your last question")
    composer(page).fill("And what does my sister Ada do in Bergen?")
    expect(secret(page).locator(".mark")).to_have_attribute("title", "Would be recalled for what you are writing")
    composer(page).fill("")
    expect(secret(page).locator(".mark")).to_have_attribute("title", "Recalled for your last question")


def test_the_line_says_that_the_model_recalls(asked):
    line = asked.locator("[data-horizon]:not([hidden])")
    scroll_up_to(asked, line)
    expect(line).to_contain_text("recalled for your last question")


def test_what_is_never_to_be_recalled_is_not(asked):
    page = asked
    row = row_of_secret(open_panel(page))
    page.evaluate(CLOSE_WHEN_PART_IS_REPLACED)
    row.get_by_role("button", name="Don’t recall").click()
    wait_until(page, lambda: page.evaluate("window.opensAgain !== undefined"))
    assert not page.evaluate("window.opensAgain")
    expect(page.locator("#inspector button", has_text="Never recalled · undo")).to_be_attached()
    say(page, QUESTION + " Tell me.")
    replies(page).last.get_by_role("link", name="What the model saw").click()
    panel = page.get_by_role("dialog", name="What the model saw")
    expect(panel.get_by_role("heading", name="In the order it was sent")).to_be_visible()
    expect(row_of_secret(panel)).to_have_count(0)


def test_what_is_never_recalled_is_marked_in_the_thread_and_listed_and_both_undo_it(asked):
    page = asked
    message = messages(page).and_(page.locator('[data-role="user"]')).filter(has_text=SECRET)
    row = row_of_secret(open_panel(page))
    row.get_by_role("button", name="Don’t recall").press("Enter")
    expect(row.get_by_role("button", name="Never recalled · undo")).to_be_focused()
    row.get_by_role("link", name="Go to").click()
    expect(message).to_have_attribute("data-never-recalled", "")
    page.get_by_role("button", name="Jump to the newest message").click()
    listed = open_panel(page).locator("#never-recalled-list")
    listed.locator("summary").click()
    listed.get_by_role("button", name="Never recalled · undo").click()
    expect(listed.get_by_role("button", name="Don’t recall")).to_be_visible()
    row.get_by_role("link", name="Go to").click()
    expect(message).not_to_have_attribute("data-never-recalled", "")
    with page.expect_response("**/recall/"):  # the button tells it before the server does
        open_menu(message).get_by_role("menuitemcheckbox", name="Don’t recall").click()
    expect(message).to_have_attribute("data-never-recalled", "")
    page.reload()
    row_of_secret(open_panel(page)).get_by_role("link", name="Go to").click()
    expect(message).to_have_attribute("data-never-recalled", "")


def test_the_panel_fits_a_window_that_becomes_narrow(asked):
    page = asked
    page.set_viewport_size({"width": 1280, "height": 800})
    panel = open_panel(page)
    panel.locator(".row").last.scroll_into_view_if_needed()
    page.set_viewport_size({"width": 390, "height": 844})
    wait_until(page, lambda: panel.evaluate("e => e.clientWidth <= 390"))
    assert panel.evaluate(WIDER_THAN_THE_PANEL) == []


def test_what_was_said_in_another_conversation_is_recalled_with_its_name_and_reached(page, site):
    say(page, SECRET)
    told_in = page.url
    site.run(INDEX.format(public_id=told_in.rstrip("/").rpartition("/")[2]))
    page.goto("/account/")
    page.get_by_role("checkbox", name="Recall from my other conversations").check()
    with page.expect_navigation():  # the box is checked before it is saved, too
        page.get_by_role("region", name="Notes and recall").get_by_role("button", name="Save").click()
    expect(page.get_by_role("checkbox", name="Recall from my other conversations")).to_be_checked()
    page.goto("/")
    assert "lighthouse" in say(page, QUESTION).inner_text()
    panel = open_panel(page)
    row = row_of_secret(panel).filter(has_text="You ·")
    expect(row.get_by_role("link").first).to_have_attribute("href", urlsplit(told_in).path)
    row.get_by_role("link", name="Go to").click()
    expect(page.get_by_text(SECRET).first).to_be_in_viewport()
