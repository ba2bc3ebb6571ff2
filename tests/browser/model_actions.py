"""What a user does with the language model of a conversation: steps for browser tests."""

from __future__ import annotations

SMALL, LARGE = "Demo (4k window)", "Demo (32k window)"


def opener(page):
    return page.get_by_role("button", name="Language model:")


def shown_model(page):
    """Return the name of the model that the header shows."""
    return opener(page).locator(".model-name")
