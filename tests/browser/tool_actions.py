"""What a user does with tools on the page: steps for browser tests."""

from __future__ import annotations

import json

from playwright.sync_api import Locator, Page, expect

from .page_actions import composer, replies, streaming, write


def choose_all_tools(page: Page) -> Page:
    page.goto("/scenarios/new/")
    page.get_by_label("Name", exact=True).fill("Tools of all kinds")
    for box in page.locator("[data-tool-choice] input[type=checkbox]").all():
        box.check()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Start a conversation with Tools of all kinds").click()
    expect(composer(page)).to_be_visible()
    return page


def calls_in(reply: Locator) -> Locator:
    return reply.locator("details[data-call]")


def ask_to_write_down(page: Page, note: str = "Pay the invoice") -> Locator:
    """Have the model call the tool that needs approval, and return the card that asks for it."""
    write(page, f"call write_down with {json.dumps({'note': note}, ensure_ascii=False)}")
    card = page.locator("[data-awaiting-approval]")
    expect(card).to_be_visible()
    return card


def end_of(page: Page) -> Locator:
    expect(streaming(page)).to_have_count(0)
    return replies(page).last
