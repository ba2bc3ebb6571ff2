"""Open Chromium as a person who is signed in, with the cookies of a browser that has no screen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, sync_playwright

from tests.browser.conftest import ARGUMENTS, PATIENCE_MS

from .browsers import Browser


@contextmanager
def open_in_chromium(chromium_path: str, browser: Browser) -> Iterator[Page]:
    """Yield an empty page of *browser*'s person, who is signed in at its address, and close Chromium afterwards."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path, args=ARGUMENTS)
        context = chromium.new_context(base_url=browser.address)
        context.set_default_timeout(PATIENCE_MS)
        context.add_cookies(
            [{"name": name, "value": value, "url": browser.address} for name, value in browser.cookies.items()]
        )
        yield context.new_page()
        chromium.close()
