"""What no page of ours would ask: refused in a sentence, never a 500."""

from __future__ import annotations

import uuid

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from chatsite.asgi import application
from tests.support.people import begin, make_user
from tests.support.sockets import Communicator

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice(client):
    alice = make_user("alice", role="admin")
    client.force_login(alice)
    return alice


@pytest.mark.parametrize(
    "before",
    [
        "yesterday",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "2026-11-21T00:00:00",
    ],
)
def test_a_moment_that_is_none(client, alice, before):
    client.cookies["tz"] = "Pacific/Kiritimati"
    response = client.get(reverse("conversations:list"), {"before": before}, headers={"HX-Request": "true"})
    assert response.status_code == 400


@pytest.mark.parametrize("listed", ["-1", "1.5", "9" * 19, "٣", "all"])
def test_a_length_of_the_list_that_is_none(client, alice, listed):
    response = client.get(reverse("conversations:list"), {"listed": listed}, headers={"HX-Request": "true"})
    assert response.status_code == 400


@pytest.mark.parametrize("position", ["-1", "1.5", "0" * 11 + "9" * 5000, "9" * 11, "٣", ""])
@pytest.mark.parametrize(("route", "name"), [("thread", "before"), ("thread", "at"), ("sync", "from")])
def test_a_position_that_is_none(client, alice, route, name, position):
    conversation = begin(alice)
    response = client.get(reverse(f"conversations:{route}", args=[conversation.public_id]), {name: position})
    assert response.status_code == 400


@pytest.mark.parametrize(
    "path",
    [
        "/conversations/?before=%00",
        "/admin/conversations/completion/?error_code=%00",
        "/admin/conversations/message/?state=%00",
        "/admin/conversations/conversation/?q=%00",
        "/accounts/login/?next=%00",
    ],
)
def test_a_nul_in_the_address(client, alice, path):
    assert client.get(path).status_code == 400


def test_the_page_of_an_invitation_that_has_no_number(client, alice):
    assert client.get("/admin/accounts/invitation/nonsense/change/").status_code == 302


@pytest.mark.parametrize("path", ["/", "/accounts/login/"])
def test_a_nul_in_the_session_cookie(path):
    client = Client(headers={"cookie": f'{settings.SESSION_COOKIE_NAME}="\\000abcdefghij"'})
    assert client.get(path).status_code in (200, 302)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/ws", "/ws/x/", "/nope", f"/c/{uuid.UUID(int=1)}/"])
async def test_a_socket_to_nowhere(path):
    socket = Communicator(application, path, headers=[(b"origin", settings.SITE_URL.encode())])
    assert (await socket.connect())[0] is False


@pytest.mark.django_db(transaction=True)
async def test_a_nul_in_the_cookie_of_a_socket():
    cookie = f'{settings.SESSION_COOKIE_NAME}="\\000abcdefghij"'.encode()
    headers = [(b"origin", settings.SITE_URL.encode()), (b"cookie", cookie)]
    assert (await Communicator(application, "/ws/", headers=headers).connect())[0] is False
