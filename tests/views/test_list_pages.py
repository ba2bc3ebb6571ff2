"""Lists in pages: where many conversations are of one moment, each is on exactly one page."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from conversations.models import Conversation
from conversations.services.conversations.folders import create_folder
from tests.support.people import begin, make_user

pytestmark = pytest.mark.django_db
COUNT = 120  # of three pages
NEXT = re.compile(r'href="[^"]*[?&](?:amp;)?before=([^"&]+)"')
ADDRESSES = {
    "list": ("conversations:list", {}),
    "selection": ("conversations:select", {}),
    "archive": ("conversations:archived", {"archived": True}),
    "recently deleted": ("conversations:deleted", {"deleted_at": timezone.now()}),
    "folder": ("conversations:folder", {}),
}


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def of_one_moment(alice):
    """Many conversations of Alice, as an import without dates makes them."""
    one = begin(alice)
    one.delete()
    now = timezone.now()
    return Conversation.objects.bulk_create(
        Conversation(
            owner=alice, scenario=one.scenario, title=f"Talk {number:03}.", title_is_given=True, last_active_at=now
        )
        for number in range(COUNT)
    )


@pytest.mark.parametrize("name", list(ADDRESSES))
def test_each_of_many_of_one_moment_is_on_exactly_one_page(client, alice, of_one_moment, name):
    client.force_login(alice)
    view, fields = ADDRESSES[name]
    Conversation.objects.update(**fields)
    arguments = []
    if name == "folder":
        folder = create_folder(alice, name="All")
        Conversation.objects.update(folder=folder)
        arguments = [folder.pk]
    shown: list[str] = []
    before = None
    for _ in range(COUNT):
        headers = {"hx-request": "true"} if name == "list" else {}
        page = client.get(reverse(view, args=arguments), {"before": before} if before else {}, headers=headers)
        text = page.text if name == "list" else page.text.partition("<main")[2]
        shown += list(dict.fromkeys(re.findall(r"Talk \d{3}\.", text)))
        if not (following := NEXT.search(text)):
            break
        before = following[1]
    assert sorted(shown) == sorted(each.title for each in of_one_moment)


@pytest.mark.parametrize(
    ("listed", "expected"), [(None, 50), (0, 50), (49, 50), (51, 100), (100, 100), (120, 120), (10**9, 120)]
)
def test_a_list_that_comes_again_is_as_long(client, alice, of_one_moment, listed, expected):
    client.force_login(alice)
    asked = {} if listed is None else {"listed": listed}
    page = client.get(reverse("conversations:list"), asked, headers={"hx-request": "true"})
    assert page.text.count("data-entry=") == expected
    assert bool(NEXT.search(page.text)) == (expected < COUNT)
