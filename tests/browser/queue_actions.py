"""What a user does with a message that waits for the end of a reply: steps for browser tests."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from .page_actions import composer, write


def queued(page: Page) -> Locator:
    return page.get_by_role("group", name="Queued message")


def queue(page: Page, content: str) -> None:
    write(page, content)
    expect(queued(page)).to_contain_text(" ".join(content.split()))
    expect(composer(page)).to_have_value("")
