"""Every page of the site in one language: no word on it that is not translated, but names and what people wrote."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.db import transaction

from tests.support.visible_text import latin_words

from .asking import ask, fields_of, path_of
from .cells import METHODS, PathCell
from .languages import LANGUAGES
from .people import Who
from .routes import door_of, routes
from .world import CANARY

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("also_rendered_by_django")]
NAMES = {
    "ChatGPT",
    "Claude",
    "Open",
    "WebUI",
    "LibreChat",
    "OpenAI",
    "OpenAPI",
    "ZIP",
    "JSON",
    "JSONL",
    "Windowseat",
    "English",
    "Enter",
    "Esc",
    "Alt",
    "Ctrl",
    "Shift",
    "Markdown",
    "JavaScript",
    "https",
}
CODE = {"role", "Key", "letters", "demo", "sliding", "full", "temperature", "input_usd", "name", "content", "kB", "MB"}
LATIN_IN_CHINESE = {"token", "tokens", "Cookie"}
DATA = (
    f"{CANARY}.txt",
    CANARY,
    "Mine.txt",
    "“Key”",
    "windowseat-demo",
    "Alice",
    "Ada",
    "Grace",
    "Bob",
    "Mine",
    "Hello",
    "Stolen",
    "Shared",
    "Good morning",
    "Indeed",
    "Write that down",
    "write_down",
)
VISITORS = (Who.ANONYMOUS, Who.OWNER, Who.GATED, Who.BLOCKED, Who.ADMIN)
SITE = [route for route in routes() if door_of(route.name) and not route.name.startswith("admin:")]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("route", SITE, ids=lambda route: route.name)
def test_a_page_of_the_site_is_in_one_language(world, route, language):
    with LANGUAGES[language]():
        cells = (PathCell(route, method, who, "alice's") for method in METHODS for who in VISITORS)
        assert [found for cell in cells for found in foreign_words(world, cell)] == []


def foreign_words(world, cell):
    known = frozenset(NAMES | CODE | LATIN_IN_CHINESE)
    for page in pages_of(world, cell):
        yield from ((cell.who.name, cell.method, *found) for found in latin_words(page, known=known, data=DATA))


def pages_of(world, cell):
    """Return the page that is answered, if it is one. What was changed is taken back."""
    with transaction.atomic():
        client = world.client_of(cell.who)
        client.cookies[settings.LANGUAGE_COOKIE_NAME] = "zh-hans"
        fields = {} if cell.method == "GET" else fields_of(world, cell.who)
        response = ask(client, cell.method, path_of(cell, world), fields)
        transaction.set_rollback(True)
    is_page = response.headers.get("Content-Type", "").startswith("text/html") and not response.streaming
    return [response.content.decode()] if is_page else []
