"""What a user does to go from one conversation to another: steps for browser tests."""

from __future__ import annotations

from playwright.sync_api import expect


def listed(page, title):
    return page.get_by_role("navigation", name="Conversations").get_by_role("link", name=title, exact=True)


def heading(page):
    return page.get_by_role("heading", level=1)


def new_conversation(page):
    page.get_by_role("link", name="New conversation").click()
    expect(heading(page)).to_have_text("New conversation")


def has_not_been_loaded_again(page):
    return page.evaluate("window.stays === true")
