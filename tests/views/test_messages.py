"""Plain HTTP: what is sent, what is refused, and with which status."""

from __future__ import annotations

import asyncio
import uuid
from urllib.parse import parse_qs, urlsplit

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient
from django.urls import reverse

from conversations.models import Conversation, Message, Scenario
from conversations.runs.claim import claim_runs
from conversations.services.replies import wait_for_stop
from conversations.services.replies.end_reply import STOPPED, end_reply
from conversations.services.replies.stop_reply import stop_reply
from tests.support.people import begin, make_user, path_of, post
from tests.support.waiting import in_thread

pytestmark = pytest.mark.django_db(transaction=True)
JSON = {"accept": "application/json"}


@pytest.fixture
def alice(client):
    user = make_user("alice")
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    return user


def send(client, public_id, content, *, client_id=None, headers=JSON):
    url = reverse("conversations:post", args=[public_id])
    return client.post(url, {"content": content, "client_id": client_id or uuid.uuid4()}, headers=headers)


def test_the_first_message_begins_its_conversation(client, alice):
    public_id = uuid.uuid4()
    assert send(client, public_id, "Hello").status_code == 201
    assert path_of(Conversation.objects.get(public_id=public_id, owner=alice))[0] == ("user", "complete", "Hello")


def test_a_plain_form_leads_to_the_conversation(client, alice):
    public_id = uuid.uuid4()
    response = send(client, public_id, "line\r\nline", headers={})
    assert response.url == reverse("conversations:conversation", args=[public_id])
    assert Message.objects.get(role="user").content == "line\nline"


@pytest.fixture
def stopping_reply(alice):
    """A reply that a worker makes, which has been asked to stop and has not yet."""
    conversation = begin(alice)
    reply = post(conversation, "Count to 500").reply
    claim_runs("a worker", limit=1)
    stop_reply(conversation=conversation, reply_id=reply.pk)
    return reply


def during(client, path, reply, data):
    """Post to *path*, end *reply* while that waits, and return the answer."""

    async def ask():
        browser = AsyncClient()
        browser.cookies = client.cookies
        answer = asyncio.create_task(browser.post(path, data, headers=JSON))
        page = reverse("conversations:conversation", args=[reply.conversation.public_id])
        assert (await browser.get(page)).status_code == 200
        assert not answer.done()
        await in_thread(end_reply, reply.pk, STOPPED)
        return await answer

    return async_to_sync(ask)()


def test_a_message_that_is_sent_while_a_reply_stops_is_stored_once_it_has_ended(client, stopping_reply):
    path = reverse("conversations:post", args=[stopping_reply.conversation.public_id])
    data = {"content": "And now?", "client_id": uuid.uuid4()}
    assert during(client, path, stopping_reply, data).status_code == 201


def test_a_reply_that_stops_is_made_again_once_it_has_ended(client, stopping_reply):
    path = reverse("conversations:regenerate", args=[stopping_reply.conversation.public_id, stopping_reply.pk])
    assert during(client, path, stopping_reply, {}).status_code == 200


def test_stop_answers_when_the_reply_has_ended(client, stopping_reply):
    path = reverse("conversations:stop", args=[stopping_reply.conversation.public_id, stopping_reply.pk])
    answer = during(client, path, stopping_reply, {})
    assert (answer.status_code, "ending" in answer.json()) == (200, False)


def test_stop_of_a_reply_that_takes_long_says_that_it_is_ending(client, stopping_reply, monkeypatch):
    monkeypatch.setattr(wait_for_stop, "LONGEST_WAIT_SECONDS", 0.1)
    path = reverse("conversations:stop", args=[stopping_reply.conversation.public_id, stopping_reply.pk])
    answer = client.post(path, headers=JSON)
    assert (answer.status_code, answer.json()["ending"]) == (202, True)


def test_the_same_client_id_is_the_same_message(client, alice):
    public_id, client_id = uuid.uuid4(), uuid.uuid4()
    first = send(client, public_id, "Hello", client_id=client_id)
    again = send(client, public_id, "Hello", client_id=client_id)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["message"] == again.json()["message"]
    assert Message.objects.count() == 2


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [("", 400, "message_empty"), (" \n\t", 400, "message_empty"), ("window " * 5_000, 413, "message_too_long")],
)
def test_a_message_that_is_refused_begins_nothing(client, alice, content, status, code):
    response = send(client, uuid.uuid4(), content)
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert not Conversation.objects.exists()


def test_a_refused_form_comes_back_with_its_text(client, alice):
    response = send(client, uuid.uuid4(), "window " * 5_000, headers={})
    assert response.status_code == 413
    assert "tokens too long" in response.content.decode()
    assert "window " * 5_000 in response.content.decode()


def test_a_second_message_is_refused_while_a_reply_is_written(client, alice):
    conversation = begin(alice)
    post(conversation, "Hello")
    response = send(client, conversation.public_id, "Hello again")
    assert (response.status_code, response.json()["code"]) == (409, "reply_in_progress")


def test_too_many_messages_in_a_minute_are_refused(client, alice, settings):
    settings.MESSAGES_PER_MINUTE = 1
    assert send(client, uuid.uuid4(), "Hello").status_code == 201
    assert send(client, uuid.uuid4(), "Hello").status_code == 429


@pytest.mark.parametrize("client_id", ["", "not-an-id", "\x00"])
def test_nonsense_for_a_client_id_is_refused(client, alice, client_id):
    url = reverse("conversations:post", args=[uuid.uuid4()])
    response = client.post(url, {"content": "Hello", "client_id": client_id}, headers=JSON)
    assert (response.status_code, response.json()["code"]) == (400, "frame_invalid")


def test_a_user_who_is_signed_out_is_told_so_or_led_to_the_door(client):
    assert send(client, uuid.uuid4(), "Hello").status_code == 401
    assert send(client, uuid.uuid4(), "Hello", headers={}).url.startswith(reverse("account_login"))


@pytest.mark.parametrize("action", ["post", "delete", "rename"])
def test_a_user_who_signs_in_after_a_form_comes_back_to_the_conversation(client, action):
    public_id = uuid.uuid4()
    door = client.post(reverse(f"conversations:{action}", args=[public_id])).url
    assert parse_qs(urlsplit(door).query)["next"] == [reverse("conversations:conversation", args=[public_id])]


def test_a_piece_of_a_page_is_not_replaced_by_the_door(client):
    headers = {"hx-request": "true", "hx-current-url": "http://testserver/c/somewhere/"}
    answer = client.get(reverse("conversations:list"), headers=headers)
    assert answer.headers["hx-redirect"] == reverse("account_login") + "?next=/c/somewhere/"


def test_what_is_too_large_to_be_read_is_refused_in_our_words(client, alice, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000
    answer = send(client, uuid.uuid4(), "window " * 200)
    assert (answer.status_code, answer.json()["code"]) == (413, "request_too_large")
    page = send(client, uuid.uuid4(), "window " * 200, headers={})
    assert page.status_code == 413
    assert "far too long to send at once" in page.content.decode()


def test_three_megabytes_are_read_and_refused_by_their_tokens(client, alice):
    answer = send(client, uuid.uuid4(), "window " * 450_000)
    assert (answer.status_code, answer.json()["code"]) == (413, "message_too_long")


@pytest.mark.parametrize(("name", "status"), [("Offered", 201), ("Put away", 404)])
def test_the_first_message_begins_with_a_scenario_that_may_be_chosen(client, alice, name, status):
    scenario = Scenario.objects.create(name=name, offered=name == "Offered")
    fields = {"content": "Hello", "client_id": uuid.uuid4(), "scenario": scenario.pk}
    response = client.post(reverse("conversations:post", args=[uuid.uuid4()]), fields, headers=JSON)
    assert response.status_code == status
    assert scenario.conversations.exists() is (status == 201)


def test_a_form_whose_scenario_was_put_away_comes_back_with_its_text(client, alice):
    fields = {"content": "Hello there", "client_id": uuid.uuid4(), "scenario": Scenario.objects.create(name="Away").pk}
    response = client.post(reverse("conversations:post", args=[uuid.uuid4()]), fields)
    assert response.status_code == 404
    assert "Hello there" in response.text
    assert "no longer offered" in response.text


@pytest.mark.parametrize(("scenario", "status"), [("", 400), ("x", 400), ("9" * 40, 400), ("999999", 404)])
def test_nonsense_for_a_scenario_is_refused(client, alice, scenario, status):
    url = reverse("conversations:scenario", args=[begin(alice).public_id])
    assert client.post(url, {"scenario": scenario}).status_code == status
