"""The switch for the web search: who may set it, what the composer shows, and that a conversation can begin with it."""

from __future__ import annotations

import uuid

import pytest
from django.urls import reverse

from conversations.models import Conversation, Scenario
from conversations.models.scenario import WebSearch
from conversations.services.messages.estimate_draft import estimate_draft
from tests.support.people import begin, make_user
from tests.support.searxng import serve_searxng

pytestmark = pytest.mark.django_db
JSON = {"accept": "application/json"}
BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


@pytest.fixture(autouse=True)
def searxng(settings):
    with serve_searxng() as running:
        settings.WEB_SEARCH_URL = running.address
        yield running
        assert running.requests == []  # nothing but a reply searches


@pytest.fixture
def conversation(client):
    conversation = begin(make_user("alice"))
    client.force_login(conversation.owner, BACKEND)
    return conversation


def switch(client, conversation, value="true", headers=JSON, **fields):
    url = reverse("conversations:web_search", args=[conversation.public_id])
    return client.post(url, {"searches_web": value, **fields}, headers=headers)


def page_of(client, conversation):
    return client.get(reverse("conversations:conversation", args=[conversation.public_id])).text


def is_on(conversation):
    return Conversation.objects.get(pk=conversation.pk).searches_web


def test_it_is_switched_on_and_off(client, conversation):
    assert 'data-action="search-web" aria-pressed="false"' in page_of(client, conversation)
    assert switch(client, conversation).json() == {"searches_web": True}
    assert is_on(conversation)
    assert 'data-action="search-web" aria-pressed="true"' in page_of(client, conversation)
    assert switch(client, conversation, "false").json() == {"searches_web": False}
    assert not is_on(conversation)


@pytest.mark.parametrize("value", ["", "on", "1", "TRUE", "\x00"])
def test_what_is_neither_on_nor_off_is_refused(client, conversation, value):
    assert switch(client, conversation, value).status_code == 400
    assert not is_on(conversation)


def test_someone_elses_is_not_found(client, conversation):
    client.force_login(make_user("bob"), BACKEND)
    assert switch(client, conversation).status_code == 404
    assert not is_on(conversation)


def test_by_a_plain_form_what_was_typed_comes_back(client, conversation):
    page = switch(client, conversation, headers={}, content="Half a <question>").text
    assert "Half a &lt;question&gt;</textarea>" in page
    assert 'aria-pressed="true"' in page
    assert switch(client, conversation, headers={}).url.endswith(f"/c/{conversation.public_id}/")


def test_where_the_site_has_no_web_search_there_is_no_switch(client, conversation, settings):
    settings.WEB_SEARCH_URL = ""
    assert "search-web" not in page_of(client, conversation)
    assert "web-switch" not in client.get("/").text
    assert switch(client, conversation).json()["code"] == "web_search_not_offered"
    assert not is_on(conversation)


@pytest.mark.parametrize("choice", [WebSearch.NEVER, WebSearch.ALWAYS])
def test_where_its_scenario_leaves_no_choice_there_is_no_switch(client, conversation, choice):
    Scenario.objects.filter(pk=conversation.scenario_id).update(web_search=choice)
    page = page_of(client, conversation)
    assert "search-web" not in page
    assert ("This scenario looks every question up on the web" in page) == (choice == WebSearch.ALWAYS)
    refused = switch(client, conversation, headers={}, content="Half a question")
    assert refused.status_code == 400
    assert "Half a question</textarea>" in refused.text
    assert not is_on(conversation)


@pytest.mark.parametrize(
    ("fields", "on"), [({}, False), ({"searches_web": "true"}, True), ({"searches_web": "false"}, False)]
)
def test_a_conversation_can_begin_with_it(client, conversation, fields, on):
    public_id = uuid.uuid4()
    sent = {"content": "Hello", "client_id": str(uuid.uuid4()), **fields}
    assert client.post(reverse("conversations:post", args=[public_id]), sent, headers=JSON).status_code == 201
    assert Conversation.objects.get(public_id=public_id).searches_web is on


def test_a_first_message_that_is_refused_comes_back_with_its_switch(client, conversation):
    sent = {"content": " ", "client_id": str(uuid.uuid4()), "searches_web": "true"}
    page = client.post(reverse("conversations:post", args=[uuid.uuid4()]), sent).text
    assert 'name="searches_web" value="true" autocomplete="off" checked' in page


def test_an_estimate_says_that_the_web_will_be_searched_and_searches_nothing(client, conversation):
    switch(client, conversation)
    fields = {"conversation": str(conversation.public_id), "content": "Where do herons stand?"}
    assert "it is looked up on the web" in client.post(reverse("conversations:preview"), fields).text
    assert client.post(reverse("conversations:estimate"), fields).status_code == 200


def test_its_worst_cost_has_room_for_what_may_be_found(conversation, settings):
    settings.MONEY_PER_DAY_USD = 10
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = (
        "x",
        "m context_window=8192 encoding=o200k_base input_usd=1 output_usd=1",
    )
    estimates = [
        estimate_draft(user=conversation.owner, conversation=None, content="Hello", begins_searching=searching)
        for searching in (False, True)
    ]
    assert estimates[0].worst_usd < estimates[1].worst_usd


def test_the_account_s_copy_says_it(client, conversation):
    from conversations.services.portability.export_account import _conversation_pieces

    switch(client, conversation)
    copied = b"".join(_conversation_pieces(Conversation.objects.select_related("scenario").get(pk=conversation.pk)))
    assert b'"searches_web": true' in copied
