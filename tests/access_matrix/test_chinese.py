"""Every page of the admin in Chinese: nothing on it is in another language but names and what people wrote."""

from __future__ import annotations

import pytest
from django.conf import settings

from conversations.models import Conversation
from conversations.services.readings import open_reading
from tests.seen import latin_words

from .asking import path_of
from .cells import PathCell
from .people import Who
from .routes import Door, door_of, routes
from .world import CANARY

pytestmark = pytest.mark.django_db
KNOWN = frozenset({"token", "tokens", "Windowseat", "Ctrl", "English", "letters", "demo"})
PEOPLE = ("Ada", "Grace", "Alice", "Bob")
OF_STAFF = (Door.STAFF, Door.ADMIN, Door.REVIEW)
SHOWN = [
    route
    for route in routes()
    if route.name.startswith("admin:") and door_of(route.name) in OF_STAFF and route.name != "admin:jsi18n"
]


@pytest.fixture
def admins_browser(world):
    client = world.client_of(Who.ADMIN)
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "zh-hans"
    return client


@pytest.mark.parametrize("is_reading", [False, True], ids=["without words", "with words"])
@pytest.mark.parametrize("route", SHOWN, ids=lambda route: route.name)
def test_a_page_of_the_admin_is_in_chinese(world, admins_browser, route, is_reading):
    if is_reading:
        conversation = Conversation.objects.get(public_id=world.alices.ids["public_id"])
        open_reading(world.person(Who.ADMIN), conversation, "为了弄清这条回复为什么这么贵")
    response = admins_browser.get(path_of(PathCell(route, "GET", Who.ADMIN, "alice's"), world), follow=True)
    if response.headers["Content-Type"].startswith("text/html"):
        assert list(latin_words(response.content.decode(), known=KNOWN, data=(CANARY, *PEOPLE))) == []
