"""Everybody's program × every address of the API × every set of scopes × every id: what a key opens, and no more."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from chatsite.accounts.models import User
from conversations.models import ApiKey

from .asking import path_of, text_of
from .cells import KeyCell, PathCell, key_cells
from .people import Who
from .world import CANARY, STATES, World, fingerprint

pytestmark = pytest.mark.django_db
METHODS_OF = {
    "api_chat_completions": {"POST"},
    "api_responses": {"POST"},
    "api_response": {"GET", "DELETE"},
    "api_cancel_response": {"POST"},
    "api_input_tokens": {"POST"},
    "api_conversations": {"POST"},
    "api_conversation": {"GET", "POST", "DELETE"},
    "api_items": {"GET", "POST"},
    "api_preview": {"POST"},
    "api_recall": {"POST"},
    "api_search": {"POST"},
}
ASK, READ, MANAGE = {"chat"}, {"read"}, {"manage"}
# What shows words of a conversation whose id is known: to keys that ask there, and to those that read everything.
SHOW_WORDS = ("api_response", "api_input_items", "api_conversation", "api_items", "api_item")
SCOPES_OF = {
    **{(name, "GET"): READ for name in ("api_window", "api_response_windows", "api_usage", "api_export")},
    **{(name, "POST"): READ for name in ("api_preview", "api_recall", "api_search")},
    **{(name, "GET"): ASK | READ for name in SHOW_WORDS},
    **{(name, "GET"): ASK | READ | MANAGE for name in ("api_models", "api_model")},
    ("api_conversation", "POST"): MANAGE,
    ("api_conversation", "DELETE"): MANAGE,
    ("api_response", "DELETE"): MANAGE,
}
# What has an owner, and the status that the owner gets.
OWN = {
    ("api_window", "GET"): 200,
    ("api_response_windows", "GET"): 200,
    ("api_export", "GET"): 400,  # without a kind
    ("api_response", "GET"): 200,
    ("api_response", "DELETE"): 200,
    ("api_cancel_response", "POST"): 400,  # it was not made in the background
    ("api_input_items", "GET"): 200,
    ("api_conversation", "GET"): 200,
    ("api_conversation", "POST"): 400,  # without metadata
    ("api_conversation", "DELETE"): 200,
    ("api_items", "GET"): 200,
    ("api_items", "POST"): 400,  # without items
    ("api_item", "GET"): 200,
}


# Their bodies say nothing that could be answered.
SAY_NOTHING = (
    *("api_chat_completions", "api_responses", "api_input_tokens"),
    *("api_preview", "api_recall", "api_search"),
)


def expected(cell: KeyCell) -> int:
    name = cell.route.name.partition(":")[2]
    if cell.method not in METHODS_OF.get(name, {"GET"}):
        return 405
    scopes = SCOPES_OF.get((name, cell.method), ASK)
    if cell.who in (Who.ANONYMOUS, Who.DEACTIVATED):
        return 401
    if cell.who in STATES or not scopes & set(cell.scopes):
        return 403
    if name in SAY_NOTHING:
        return 400  # it says nothing that could be answered
    if (name, cell.method) in OWN:
        return OWN[name, cell.method] if cell.who is Who.OWNER and cell.ids == "alice's" else 404
    return 404 if name == "api_model" and cell.ids == "unknown" else 200


def complaints(cells: Iterable[KeyCell], world: World) -> list[str]:
    return [complaint for cell in cells if (complaint := complaint_about(cell, world))]


def complaint_about(cell: KeyCell, world: World) -> str | None:
    """Return what is wrong with the answer to *cell*. A session of the same person is sent along, and opens nothing."""
    with transaction.atomic():
        client = world.client_of(cell.who)
        belongings = world.own(cell.who)
        text = "" if cell.who is Who.ANONYMOUS else belongings.ids["key_text"]
        ApiKey.objects.filter(public_id=belongings.ids["key_id"]).update(scopes=list(cell.scopes))
        path = path_of(PathCell(cell.route, cell.method, cell.who, cell.ids), world)
        response = client.generic(cell.method, path, "{}", headers={"Authorization": f"Bearer {text}"})
        transaction.set_rollback(True)
    if response.status_code != expected(cell):
        return f"{cell}: {response.status_code}"
    body = text_of(response)
    if response.status_code >= 400 and set(json.loads(body)) != {"error"}:
        return f"{cell}: not an error as clients read it"
    if cell.who is not Who.OWNER and (CANARY in body or world.alices.ids["key_text"] in body):
        return f"{cell}: Alice's words are in it"
    return None


@pytest.mark.parametrize("who", Who, ids=lambda who: who.name)
def test_a_key_opens_what_is_its_owners_within_its_scopes(world, who):
    assert complaints((cell for cell in key_cells() if cell.who is who), world) == []


@pytest.mark.parametrize("who", [Who.OTHER, Who.REVIEWER, Who.ADMIN], ids=lambda who: who.name)
def test_anothers_conversation_is_not_found(world, who):
    before = fingerprint()
    with transaction.atomic():
        headers = {
            "Authorization": f"Bearer {world.own(who).ids['key_text']}",
            "x-windowseat-conversation": str(world.alices.ids["public_id"]),
        }
        body = {"model": "windowseat-demo", "messages": [{"role": "user", "content": "Hello"}]}
        path = reverse("conversations:api_chat_completions")
        response = Client().post(path, body, content_type="application/json", headers=headers)
        ApiKey.objects.update(last_used_at=None)
        assert (response.status_code, response.json()["error"]["code"]) == (404, "conversation_not_found")
        assert fingerprint() == before
        transaction.set_rollback(True)


def test_what_is_refused_changes_nothing(world):
    before = fingerprint()
    Client().post(reverse("conversations:api_chat_completions"), headers={"Authorization": "Bearer wsk_x"})
    assert fingerprint() == before


def test_no_page_takes_a_key(world):
    key = {"Authorization": f"Bearer {world.alices.ids['key_text']}"}
    for name in ("account", "conversations:new", "conversations:api_keys"):
        assert Client().get(reverse(name), headers=key).status_code == 302
    assert User.objects.filter(last_login__isnull=False).count() == 0
