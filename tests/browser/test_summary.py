"""The summary as people meet it: offered where the window begins, written by the demo model, edited and undone."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from .page_actions import replies, say, wait_until

SECRET = "My sister Ada lives in Bergen and keeps the lighthouse."
TALK_ON = """
from conversations.models import Conversation
from conversations.services.portability.chat_history import ChatHistory
conversation = Conversation.objects.get(public_id="{public_id}")
history = ChatHistory(conversation)
for number in range(40):
    history.add("user", f"We talked about garden {{number}}, roof {{number}} and river {{number}}. " * 6)
    history.add("assistant", f"That was evening {{number}}, and it rained on the roof. " * 8)
"""
VERSIONS = """
from conversations.models import Summary
print(Summary.objects.filter(conversation__public_id="{public_id}").count())
"""


MOST_QUESTIONS = 12
NOT_SENT = "No summary was sent here. This is the one that is kept now."


def open_panel(page: Page):
    replies(page).last.get_by_role("link", name="What the model saw").click()
    panel = page.get_by_role("dialog", name="What the model saw")
    expect(panel.get_by_role("heading", name="Summary", exact=True)).to_be_visible()
    return panel


def test_a_summary_is_offered_written_sent_edited_and_undone(page, site):
    say(page, SECRET)
    public_id = page.url.rstrip("/").rpartition("/")[2]
    site.run(TALK_ON.format(public_id=public_id))
    page.reload()
    say(page, "How are you?")
    page.reload()
    page.get_by_role("button", name="Summarise what is out of view").first.click()
    expect(page.get_by_text("A summary of the messages above is being written.")).to_be_visible()
    wait_until(page, lambda: "1" in site.run(VERSIONS.format(public_id=public_id)))
    say(page, "And you?")
    panel = open_panel(page)
    expect(panel.locator(".row-summary")).to_contain_text("Summary, version 1")
    expect(panel.locator(".summary-text")).to_contain_text("the demo model can't summarise")
    panel.locator(".summary-editor > summary").click()
    panel.get_by_role("textbox", name="Text of the summary").fill("Ada keeps the lighthouse of Bergen.")
    panel.get_by_role("button", name="Save").click()
    expect(panel.locator(".summary-text")).to_have_text("Ada keeps the lighthouse of Bergen.")
    panel.get_by_role("button", name="Undo: back to version 1").click()
    expect(panel.locator(".summary-text")).to_contain_text("the demo model can't summarise")
    expect(panel.get_by_text(NOT_SENT)).to_have_count(0)
    page.keyboard.press("Escape")
    replies(page).nth(-2).get_by_role("link", name="What the model saw").click()
    expect(panel.get_by_text(NOT_SENT)).to_be_visible()


def test_it_is_offered_on_a_new_page_that_was_not_loaded_again(page, site):
    offer = page.get_by_role("button", name="Summarise what is out of view")
    page.evaluate("window.isSamePage = true")
    for number in range(MOST_QUESTIONS):
        expect(offer).to_have_count(0)
        reply = say(page, f"We talked about garden {number}, roof {number} and river {number}. " * 40)
        expect(reply).to_have_attribute("data-mark", "in")  # the line is known with it
        if page.locator("[data-horizon]").is_visible():
            break
    offer.click()
    expect(page.get_by_text("A summary of the messages above is being written.")).to_be_visible()
    public_id = page.url.rstrip("/").rpartition("/")[2]
    wait_until(page, lambda: "1" in site.run(VERSIONS.format(public_id=public_id)))
    assert page.evaluate("window.isSamePage")
