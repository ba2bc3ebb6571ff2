"""Every address of conversations × everybody who might ask: who may see what, and who must see nothing.

A route that is missing from `ROUTES` fails, so that a new one can't be forgotten. Frames have their own table in
tests/test_consumers.py.
"""

from __future__ import annotations

import uuid

import pytest
from django.test import Client
from django.urls import reverse

from conversations import urls
from conversations.models import Conversation, Message, Scenario
from conversations.services.end_reply import COMPLETE, end_reply
from conversations.services.prepare_reply import prepare_reply
from tests.ledger import open_for
from tests.people import begin, make_user, post

pytestmark = pytest.mark.django_db

# name: (method, status for the owner); those without ids are everybody's own
ROUTES = {
    "new": ("GET", 200),
    "list": ("GET", 200),
    "estimate": ("POST", 200),
    "conversation": ("GET", 200),
    "older": ("GET", 200),
    "post": ("POST", 302),
    "sync": ("GET", 200),
    "stop": ("POST", 302),
    "regenerate": ("POST", 302),
    "window": ("GET", 200),
    "request": ("GET", 200),
    "preview": ("POST", 200),
    "pin": ("POST", 302),
    "exclude": ("POST", 302),
    "scenario": ("POST", 302),
    "rename": ("POST", 302),
    "delete": ("POST", 302),
    "restore": ("POST", 302),
    "scenarios": ("GET", 200),
    "new_scenario": ("GET", 200),
    "scenario_from_file": ("GET", 200),
    "edit_scenario": ("GET", 200),
    "delete_scenario": ("POST", 302),
    "export_scenario": ("GET", 200),
}
WITHOUT_ID = {"new", "list", "estimate", "preview", "scenarios", "new_scenario", "scenario_from_file"}
OF_A_SCENARIO = {"edit_scenario", "delete_scenario", "export_scenario"}
SECRET = "the canary sings at dawn"


@pytest.fixture
def conversation():
    conversation = begin(make_user("alice"))
    prepared = prepare_reply(post(conversation, SECRET).reply.pk)
    open_for(prepared)
    end_reply(prepared.reply.pk, COMPLETE, content=f"Indeed, {SECRET}")
    return conversation


def client_of(who, conversation):
    client = Client()
    if who == "owner":
        client.force_login(conversation.owner)
    elif who == "deactivated owner":
        client.force_login(conversation.owner)
        conversation.owner.is_active = False
        conversation.owner.save()
    elif who == "somebody else":
        client.force_login(make_user("charlie"))
    elif who == "admin":
        client.force_login(make_user("admin", role="admin"))
    return client


def ask(client, name, conversation):
    method, _ = ROUTES[name]
    ids = {}
    if name not in WITHOUT_ID | OF_A_SCENARIO:
        ids["public_id"] = conversation.public_id
    if name in ("stop", "regenerate", "window", "request"):
        ids["reply_id"] = Message.objects.get(role="assistant", conversation=conversation).pk
    if name in ("pin", "exclude"):
        ids["message_id"] = Message.objects.get(role="user", conversation=conversation).pk
    # Of the owner's own scenarios; whether it may be chosen is asked only after the conversation is found.
    scenario = Scenario.objects.get_or_create(name="Theirs", owner=conversation.owner)[0].pk
    if name in OF_A_SCENARIO:
        ids["scenario_id"] = scenario
    fields = {"content": "Hello", "client_id": str(uuid.uuid4()), "title": "Stolen", "scenario": scenario}
    fields |= {"pinned": "true", "excluded": "true"}
    data = fields if method == "POST" else {}
    send = client.get if method == "GET" else client.post
    return send(reverse(f"conversations:{name}", kwargs=ids), data)


def test_every_route_is_in_the_table():
    assert {pattern.name for pattern in urls.urlpatterns} == set(ROUTES)


@pytest.mark.parametrize("name", ROUTES)
def test_the_owner_gets_in(conversation, name):
    assert ask(client_of("owner", conversation), name, conversation).status_code == ROUTES[name][1]


@pytest.mark.parametrize("who", ["somebody else", "admin"])
@pytest.mark.parametrize("name", sorted(set(ROUTES) - WITHOUT_ID))
def test_nobody_else_finds_it(conversation, who, name):
    before = list(Conversation.objects.values()), list(Message.objects.values())
    response = ask(client_of(who, conversation), name, conversation)
    assert response.status_code == 404
    assert SECRET not in response.text
    assert (list(Conversation.objects.values()), list(Message.objects.values())) == before


@pytest.mark.parametrize("who", ["anonymous", "deactivated owner"])
@pytest.mark.parametrize("name", ROUTES)
def test_without_an_account_that_may_be_used_everything_leads_to_the_door(conversation, who, name):
    before = list(Message.objects.values())
    response = ask(client_of(who, conversation), name, conversation)
    assert response.status_code == 302
    assert response.url.startswith(reverse("account_login"))
    assert list(Message.objects.values()) == before


def test_somebody_elses_looks_the_same_as_none_at_all(conversation):
    client = client_of("somebody else", conversation)
    theirs = client.get(reverse("conversations:conversation", args=[conversation.public_id]))
    none = client.get(reverse("conversations:conversation", args=[uuid.uuid4()]))
    assert theirs.status_code == none.status_code == 404
    assert len(theirs.text) == len(none.text)


@pytest.mark.parametrize("name", ["estimate", "preview"])
def test_a_draft_does_not_measure_somebody_elses_conversation(conversation, name):
    charlie = client_of("somebody else", conversation)
    draft = {"content": "Hello", "conversation": str(conversation.public_id)}
    answer = charlie.post(reverse(f"conversations:{name}"), draft)
    assert answer.status_code == 404
    assert SECRET not in answer.text


@pytest.mark.parametrize("name", ["pin", "exclude"])
def test_a_message_of_another_conversation_is_not_found(conversation, name):
    theirs = post(begin(make_user("charlie")), "Mine").message
    url = reverse(f"conversations:{name}", args=[conversation.public_id, theirs.pk])
    answer = client_of("owner", conversation).post(url, {"pinned": "true", "excluded": "true"})
    theirs.refresh_from_db()
    assert (answer.status_code, theirs.pinned, theirs.excluded) == (404, False, False)


def test_the_list_shows_only_ones_own(conversation):
    assert SECRET not in ask(client_of("somebody else", conversation), "list", conversation).text
