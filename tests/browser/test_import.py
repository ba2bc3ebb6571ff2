"""A person brings conversations along: files, progress, report, one opened, and going on in it."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.parsing.pictures import drawing, encoded
from tests.support.exports import as_zip, chatgpt_files, odd_chatgpt


def test_conversations_are_brought_along_and_go_on(page):
    page.goto("/import/")
    packed = as_zip(chatgpt_files(odd_chatgpt(), picture=encoded(drawing())))
    page.get_by_label("ZIP or JSON files").set_input_files(
        {"name": "export.zip", "mimeType": "application/zip", "buffer": packed}
    )
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator(".import-taken")).to_have_text("8 of 14 messages taken")
    expect(page.get_by_text("Content of an unknown type: super_widget")).to_be_visible()
    page.get_by_role("link", name=re.compile("^Go on")).click()
    expect(page.get_by_text("It is a lighthouse.")).to_be_visible()
    composer = page.get_by_role("textbox", name="Message")
    composer.fill("And now?")
    composer.press("Enter")
    expect(page.get_by_text("And now?")).to_be_visible()
