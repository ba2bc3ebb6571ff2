"""The page of the API's description: every address and field of it, for people who are signed in."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from conversations.views.api.openapi import describe_api
from conversations.wording.api_reference import read_reference
from tests.access_matrix.world import session_of
from tests.support.people import make_user

PAGE = reverse("conversations:api_reference")


@pytest.fixture
def client():
    client = Client()
    client.cookies["sessionid"] = session_of(make_user("alice"))
    return client


def rows_of(name):
    return {row.name: row for row in read_reference(describe_api()).objects[name]}


def operation(name):
    groups = read_reference(describe_api()).groups.values()
    return next(each for entries in groups for each in entries if each.id == name)


@pytest.mark.django_db
def test_each_address_and_each_link_of_the_page_leads_somewhere(client):
    page = client.get(PAGE).content.decode()
    for path, methods in describe_api()["paths"].items():
        assert page.count(f"<code>{path}</code></h3>") == len(methods)
    ids = set(re.findall(r'id="([^"]+)"', page))
    assert set(re.findall(r'href="#((?:object|error|get|post|delete)[^"]*)"', page)) <= ids
    assert PAGE in client.get(reverse("conversations:api_keys")).content.decode()


@pytest.mark.django_db
def test_there_is_no_page_while_the_api_is_off(client, settings):
    settings.API = False
    assert client.get(PAGE).status_code == 403
    assert PAGE not in client.get(reverse("conversations:api_keys")).content.decode()


def test_fields_are_named_as_errors_name_them():
    rows = {row.name: row for row in operation("post_chat_completions").fields}
    assert rows["model"].is_required
    assert [kind.text for kind in rows["max_tokens"].kinds] == ["whole number, 1 to 1,000,000,000"]
    assert "stream_options.include_usage" in rows
    messages = rows["messages"].kinds
    assert [kind.schema for kind in messages] == ["SystemMessage", "UserMessage", "AssistantMessage", "ToolMessage"]
    assert [kind.before for kind in messages] == ["list of 1 to 100,000: ", "", "", ""]


def test_alternatives_of_a_field_are_one_row():
    rows = rows_of("AssistantMessage")
    assert [kind.text for kind in rows["content[].type"].kinds] == ["text", "refusal"]
    assert [kind.text for kind in rows["content"].kinds] == ["text", "object"]
    assert (rows["content[].type"].is_required, rows["content[].refusal"].is_required) == (True, False)


def test_code_in_a_description_is_told_from_words():
    [row] = [row for row in operation("post_chat_completions").fields if row.name == "max_tokens"]
    assert [piece.text for piece in row.pieces if piece.is_code] == ["max_completion_tokens"]
