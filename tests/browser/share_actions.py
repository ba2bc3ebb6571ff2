"""What a user does to share a conversation: steps for browser tests."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from .page_actions import open_menu, replies


def share(page: Page, title: str) -> str:
    """Share up to the last reply with its window records, and return the link."""
    open_menu(replies(page).last).get_by_role("menuitem", name="Share up to here").click()
    page.get_by_role("textbox", name="Title").fill(title)
    page.get_by_role("checkbox", name="What the model saw").check()
    page.get_by_role("button", name="Make the link").click()
    expect(page.get_by_role("heading", name="Your shares")).to_be_visible()
    return page.locator(".share-link code").inner_text()
