"""API keys on the account page and in the admin: made, shown once, listed, bounded, revoked, exported, deleted."""

from __future__ import annotations

import datetime as dt
import html
import json
import re
import shlex
from decimal import Decimal

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from chatsite.accounts.models import SecurityEvent
from conversations.access import find_open_keys
from conversations.core.errors import ApiKeyInvalid, GateClosed, ScenarioNotFound, TooManyApiKeys
from conversations.models import ApiKey, Completion, Message, Run, Scenario
from conversations.models.completion import Purpose
from conversations.services.api import api_keys
from conversations.services.api.api_keys import KeyBounds, authenticate, make_key, revoke_key
from conversations.services.api.key_access import models_of_key
from conversations.services.portability.delete_account import delete_account
from conversations.services.portability.export_account import exported_files
from tests.access_matrix.world import session_of
from tests.admin.stored import make_completion
from tests.support.people import PASSWORD, begin, make_user, post

pytestmark = pytest.mark.django_db
KEYS, NEW = reverse("conversations:api_keys"), reverse("conversations:new_api_key")
TEXT = re.compile(r"wsk_[0-9a-z]{12}_[A-Za-z0-9_-]{43}")
FORM = {"name": "My program", "scopes": ["chat"], "days": "30"}


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def client(alice, settings):
    """A browser in which Alice has just reauthenticated."""
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = session_of(alice)
    return client


def test_a_key_is_shown_once_and_stored_as_a_hash(alice, client):
    page = html.unescape(client.post(NEW, FORM).content.decode())
    text = TEXT.search(page)[0]
    key = authenticate(text)
    assert (key.owner, key.name, key.scopes) == (alice, "My program", ["chat"])
    assert dt.timedelta(days=29) < key.ends_at - timezone.now() < dt.timedelta(days=31)
    secret = text.split("_", 2)[2]  # which may hold underscores itself
    assert all(secret not in str(value) for value in ApiKey.objects.values_list().get(pk=key.pk))
    listed = client.get(KEYS).content.decode()
    assert "My program" in listed
    assert secret not in listed
    event = SecurityEvent.objects.get(kind="key_made")
    assert (event.user, event.about) == (alice, f"key {key.pk}")


def test_the_page_of_a_new_key_has_a_command_that_asks_with_it(alice, client):
    offered = models_of_key(make_key(alice, name="Other").key)[0].name
    page = html.unescape(client.post(NEW, FORM).content.decode())
    command = page.split('class="api-example">')[1].split("</code>")[0]
    words = shlex.split(command.replace("\\\n", " "))
    assert words[:2] == ["curl", f"{settings.SITE_URL}/v1/chat/completions"]
    assert words[3] == f"Authorization: Bearer {TEXT.search(page)[0]}"
    assert json.loads(words[-1])["model"] == offered
    page = html.unescape(client.post(NEW, {**FORM, "scopes": ["read"]}).content.decode())
    assert f"curl {settings.SITE_URL}/v1/models -H" in page


def test_the_form_names_scopes_and_models_as_programs_do(alice, client):
    page = html.unescape(client.get(NEW).content.decode())
    for name in ("chat", "read", "manage", *(each.name for each in models_of_key(make_key(alice, name="Other").key))):
        assert f"<code>{name}</code>" in page


def test_the_list_says_what_each_key_has_cost_this_month(alice, client):
    first, second = (make_key(alice, name=name).key for name in ("x", "y"))
    for key, cost in ((first, "0.5"), (first, "0.25"), (second, "2")):
        make_completion(alice, api_key=key, purpose=Purpose.API, cost_usd=Decimal(cost))
    make_completion(
        alice, api_key=second, purpose=Purpose.API, cost_usd=Decimal(4), at=timezone.now() - dt.timedelta(days=32)
    )
    page = client.get(KEYS).content.decode()
    assert [amount in page for amount in ("$0.75", "$2.00")] == [True, True]


def test_more_keys_take_no_more_queries(alice, client):
    make_key(alice, name="x")
    client.get(KEYS)
    with CaptureQueriesContext(connection) as of_one:
        client.get(KEYS)
    for number in range(3):
        make_key(alice, name=str(number))
    with CaptureQueriesContext(connection) as of_four:
        client.get(KEYS)
    assert len(of_four) == len(of_one)


def test_making_one_asks_for_reauthentication(alice):
    alice.set_password(PASSWORD)
    alice.save()
    client = Client()
    client.force_login(alice)
    assert client.post(NEW, FORM).status_code == 302
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "\u200b"),
        ("days", "0"),
        ("days", "soon"),
        ("scopes", "everything"),
        ("scenario", "999999"),
        ("language_models", "no-such-model"),
        ("requests_per_minute", "0"),
        ("money_per_day_usd", "-1"),
        ("money_per_month_usd", "much"),
    ],
)
def test_what_makes_no_sense_makes_no_key(client, field, value):
    response = client.post(NEW, {**FORM, field: value})
    assert response.status_code == 400
    assert not ApiKey.objects.exists()


def test_a_key_is_revoked_at_once(alice, client):
    made = make_key(alice, name="x")
    client.post(reverse("conversations:revoke_api_key", args=[made.key.public_id]))
    with pytest.raises(ApiKeyInvalid):
        authenticate(made.text)
    assert find_open_keys([made.key.pk]) == set()
    assert SecurityEvent.objects.filter(kind="key_revoked", user=alice).exists()


def test_a_reply_that_its_client_no_longer_reads_is_stopped_with_its_key(alice):
    """Who has taken a key has gone when it is revoked; what it asked for would be made, and paid, to its end."""
    replies = [post(begin(alice), "Hello").reply for _ in range(3)]
    own, other = (make_key(alice, name=name).key for name in ("x", "y"))
    Run.objects.filter(reply=replies[0]).update(api_key=own)
    Run.objects.filter(reply=replies[1]).update(api_key=other)
    revoke_key(own)
    assert [Message.objects.get(pk=reply.pk).state for reply in replies] == ["stopped", "streaming", "streaming"]


def test_a_key_for_which_nothing_is_said_can_neither_look_through_nor_delete(alice):
    assert list(make_key(alice, name="x").key.scopes) == ["chat"]


def test_a_key_ends(alice):
    made = make_key(alice, name="x", bounds=KeyBounds(ends_at=timezone.now() - dt.timedelta(seconds=1)))
    with pytest.raises(ApiKeyInvalid):
        authenticate(made.text)


@pytest.mark.parametrize("change", ["wsk_", "x", " "])
def test_another_text_is_no_key(alice, change):
    made = make_key(alice, name="x")
    with pytest.raises(ApiKeyInvalid):
        authenticate(change + made.text)
    with pytest.raises(ApiKeyInvalid):
        authenticate(made.text + "\n")


def test_a_key_is_its_owners_account(alice):
    made = make_key(alice, name="x")
    alice.gate_rule = "blocked"
    alice.save()
    with pytest.raises(GateClosed):
        authenticate(made.text)
    assert find_open_keys([made.key.pk]) == set()
    alice.is_active = False
    alice.save()
    with pytest.raises(ApiKeyInvalid):
        authenticate(made.text)


def test_there_is_a_limit_to_their_number(alice, monkeypatch):
    monkeypatch.setattr(api_keys, "MOST_KEYS", 2)
    first = make_key(alice, name="1")
    make_key(alice, name="2")
    with pytest.raises(TooManyApiKeys):
        make_key(alice, name="3")
    revoke_key(first.key)
    make_key(alice, name="3")


def test_a_bound_key_is_never_less_bound(alice):
    scenario = Scenario.objects.create(name="Mine", owner=alice)
    key = make_key(alice, name="x", bounds=KeyBounds(scenario=scenario)).key
    assert len(models_of_key(key)) == 1
    scenario.delete()
    with pytest.raises(ScenarioNotFound):
        models_of_key(ApiKey.objects.get(pk=key.pk))


def test_switched_off_no_key_is_made(client, settings):
    settings.API = False
    assert client.post(NEW, FORM).status_code == 403
    assert not ApiKey.objects.exists()
    answer = client.get("/v1/models", headers={"Authorization": "Bearer x"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "api_off")


def test_pages_of_other_sites_may_ask_only_where_a_setting_names_them(alice, settings):
    headers = {"Authorization": f"Bearer {make_key(alice, name='x').text}", "Origin": "https://app.example.org"}
    assert "Access-Control-Allow-Origin" not in Client().get("/v1/models", headers=headers)
    settings.API_ORIGINS = ["https://app.example.org"]
    allowed = Client().get("/v1/models", headers=headers)
    assert allowed["Access-Control-Allow-Origin"] == "https://app.example.org"
    assert "Access-Control-Allow-Credentials" not in allowed
    preflight = Client().options("/v1/chat/completions", headers={"Origin": "https://app.example.org"})
    assert (preflight.status_code, preflight["Access-Control-Allow-Methods"]) == (204, "POST")
    other = Client().get("/v1/models", headers={**headers, "Origin": "https://evil.example.org"})
    assert "Access-Control-Allow-Origin" not in other


# The account's data


def test_the_export_knows_keys_and_no_secret(alice):
    made = make_key(alice, name="My program")
    make_completion(alice, purpose=Purpose.API, api_key=made.key)
    files = {name: b"".join(content) for name, content in exported_files(alice, language_code="en")}
    [exported] = json.loads(files["api_keys.json"])["api_keys"]
    assert exported["name"] == "My program"
    assert made.text.split("_", 2)[2].encode() not in b"".join(files.values())
    assert made.key.public_part.encode() not in files["api_keys.json"]
    assert b"My program" in files["usage.csv"]


def test_keys_go_with_the_account_and_amounts_stay(alice):
    made = make_key(alice, name="x")
    row = make_completion(alice, purpose=Purpose.API, api_key=made.key, cost_usd=Decimal(1))
    delete_account(alice)
    assert not ApiKey.objects.exists()
    stayed = Completion.objects.get(pk=row.pk)
    assert (stayed.user, stayed.api_key, stayed.cost_usd) == (None, None, Decimal(1))


# The admin


def test_an_admin_sees_and_revokes_and_never_reads(alice, settings):
    settings.STAFF_SECOND_FACTOR = False
    made = make_key(alice, name="her own words")
    client = Client()
    client.force_login(make_user("ada", role="admin"))
    page = client.get(reverse("admin:conversations_apikey_change", args=[made.key.pk])).content.decode()
    assert "alice@example.org" in page
    assert not [word for word in ("her own words", made.key.public_part, made.key.secret_digest) if word in page]
    other = make_key(alice, name="Other").key
    listed = reverse("admin:conversations_apikey_changelist")
    for typed in (made.key.beginning, made.text, f" wsk_{made.key.public_part} "):
        page = client.get(listed, {"q": typed}).content.decode()
        assert f"/apikey/{made.key.pk}/change/" in page
        assert f"/apikey/{other.pk}/change/" not in page
    client.post(reverse("admin:conversations_apikey_revoke", args=[made.key.pk]))
    with pytest.raises(ApiKeyInvalid):
        authenticate(made.text)
