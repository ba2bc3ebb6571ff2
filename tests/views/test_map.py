"""The map's figures, and the pieces of a thread at a place, as the page asks for them."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from tests.support.filled_conversation import fill_conversation
from tests.support.people import begin, make_user

pytestmark = pytest.mark.django_db(transaction=True)
PIECE = {"hx-request": "true"}


@pytest.fixture
def conversation(client):
    user = make_user("alice")
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    conversation = begin(user)
    fill_conversation(conversation, 100)
    return conversation


def of(name, conversation):
    return reverse(f"conversations:{name}", args=[conversation.public_id])


def positions(html):
    return [int(position) for position in re.findall(r'data-position="(\d+)"', html)]


def test_the_figures_are_those_of_every_message(client, conversation):
    figures = client.get(of("map", conversation)).json()
    assert figures["messages"] == 100
    assert [bucket[0] for bucket in figures["buckets"]] == list(range(100))
    assert {mark["mark"] for mark in figures["marks"]} <= {"pinned", "excluded"}


def test_a_conversation_that_has_not_begun_has_figures_too(client, conversation):
    assert client.get(of("map", begin(conversation.owner))).json()["buckets"] == []


@pytest.mark.parametrize(
    ("query", "first", "last", "goes_on"),
    [
        ("at=50", 40, 69, True),
        ("on=2020-01-01", 0, 29, True),
        ("after=90", 91, 99, False),
        ("before=50", 20, 49, True),
    ],
)
def test_a_piece_is_what_is_at_a_place(client, conversation, query, first, last, goes_on):
    piece = client.get(f"{of('thread', conversation)}?{query}", headers=PIECE).content.decode()
    assert positions(piece) == list(range(first, last + 1))
    assert (f'data-newer="{last}"' in piece) == goes_on
    assert (f'data-older="{first}"' in piece) == (first > 0)


def test_a_message_is_a_place(client, conversation):
    message = conversation.messages.get(position=50)
    piece = client.get(f"{of('thread', conversation)}?message={message.pk}", headers=PIECE).content.decode()
    assert 'data-asked="50"' in piece


def test_a_page_at_a_place_has_the_newest_messages_too_behind_a_gap(client, conversation):
    page = client.get(f"{of('thread', conversation)}?at=20").content.decode()
    assert positions(page) == [*range(10, 40), *range(70, 100)]
    assert page.index('data-position="39"') < page.index('data-newer="39"') < page.index('data-position="70"')


def test_a_page_at_a_place_near_the_end_has_no_gap(client, conversation):
    page = client.get(f"{of('thread', conversation)}?at=60").content.decode()
    assert positions(page) == list(range(50, 100))
    assert 'data-newer="79"' not in page


@pytest.mark.parametrize("query", ["at=x", "message=x", "message=-1", "on=yesterday", "on=0001-01-01", "after=%00"])
def test_a_place_that_is_none_is_refused(client, conversation, query):
    assert client.get(f"{of('thread', conversation)}?{query}").status_code == 400
