"""Every page of the admin in one language, and what is wrong with what its forms are sent."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.db import transaction

from conversations.models import Conversation
from conversations.services.review.readings import open_reading
from tests.support.visible_text import latin_words

from .asking import ask, path_of
from .cells import METHODS, PathCell
from .languages import LANGUAGES
from .people import Who
from .routes import Door, door_of, routes
from .world import CANARY

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("also_rendered_by_django")]
NAMES = frozenset({"token", "tokens", "Token", "Windowseat", "English", "Markdown"})
CODE = frozenset({"Bearer", "abc123", "letters", "demo", "temperature", "sliding", "ManagementForm", "limits"})
DATA = (
    CANARY,
    "Ada",
    "Grace",
    "Alice",
    "Bob",
    "Indeed",
    "Inside",
    "inside",
    "Letters",
    "Write that down",
    "write_down",
    "windowseat-demo",
    "Demo (4k window)",
    "Demo (32k window)",
    "A reason that held once",
    "hooks.example.org",
)
ADMIN = [route for route in routes() if door_of(route.name) and route.name.startswith("admin:")]


@pytest.fixture
def admins_browser(world):
    client = world.client_of(Who.ADMIN)
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "zh-hans"
    return client


@pytest.fixture
def reading(world):
    """An admin has said why, and reads what Alice wrote."""
    conversation = Conversation.objects.get(public_id=world.alices.ids["public_id"])
    return open_reading(world.person(Who.ADMIN), conversation, "为了弄清这条回复为什么这么贵")


def foreign_words(world, browser, route):
    """Return what is in another language in the answers to a look, and to a form that is sent empty."""
    path = path_of(PathCell(route, "GET", Who.ADMIN, "alice's"), world)
    pages = [answered(browser, method, path) for method in METHODS]
    return [found for page in pages for found in latin_words(page, known=NAMES | CODE, data=DATA)]


def answered(browser, method, path):
    with transaction.atomic():
        response = ask(browser, method, path, {})
        transaction.set_rollback(True)
    is_page = response.headers.get("Content-Type", "").startswith("text/html") and not response.streaming
    return response.content.decode() if is_page else ""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("route", ADMIN, ids=lambda route: route.name)
def test_a_page_of_the_admin_is_in_one_language(world, admins_browser, route, language):
    with LANGUAGES[language]():
        assert foreign_words(world, admins_browser, route) == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("route", [r for r in ADMIN if door_of(r.name) is Door.REVIEW], ids=lambda route: route.name)
def test_so_is_one_with_what_people_wrote(world, admins_browser, reading, route, language):
    with LANGUAGES[language]():
        assert foreign_words(world, admins_browser, route) == []
