"""Positions of the messages that a page has."""

from __future__ import annotations

from playwright.sync_api import Page

SHOWN = """() => [...document.querySelectorAll("[data-message]")]
  .filter((article) => article.offsetParent).map(({ dataset }) => Number(dataset.position))"""


def shown_positions(page: Page) -> list[int]:
    return list(page.evaluate(SHOWN))


def is_whole(positions: list[int]) -> bool:
    return positions == list(range(positions[0], positions[-1] + 1))
