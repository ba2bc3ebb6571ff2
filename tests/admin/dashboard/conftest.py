"""The first page, as an admin sees it."""

from __future__ import annotations

import pytest
from django.urls import reverse

INDEX = reverse("admin:index")


@pytest.fixture
def page(admin_browser):
    """Return what answers with the page's text, for a query."""
    return lambda query="": admin_browser.get(INDEX + query).content.decode()


@pytest.fixture
def overview(admin_browser):
    """Return what the page is given, for a query."""
    return lambda query="": admin_browser.get(INDEX + query).context["overview"]
