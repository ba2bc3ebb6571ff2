"""Suggestions under the composer: steps for browser tests."""

from __future__ import annotations

from playwright.sync_api import Locator, Page


def options(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Suggestions").get_by_role("option")


def option(page: Page, name: str) -> Locator:
    return options(page).filter(has_text=name)
