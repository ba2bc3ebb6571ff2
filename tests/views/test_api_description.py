"""The description of the API at `/v1/openapi.json`: served to all, whole, and of the same addresses as the views."""

from __future__ import annotations

import jsonschema_rs
import pytest
import schemathesis
from django.test import Client

from conversations.views.api.openapi import describe_api, described_operations
from conversations.views.api.operations import ERRORS, OPERATIONS
from conversations.views.http.api_errors import KINDS

ADDRESS = "/v1/openapi.json"


def test_it_is_served_without_a_key():
    answer = Client().get(ADDRESS)
    assert (answer.status_code, answer["Content-Type"], answer.json()) == (200, "application/json", describe_api())
    assert "Set-Cookie" not in answer
    refusal = Client().post(ADDRESS)
    assert (refusal.status_code, refusal["Allow"], refusal.json()["error"]["code"]) == (
        405,
        "GET",
        "method_not_allowed",
    )


@pytest.mark.django_db
def test_it_is_off_with_the_api(settings):
    settings.API = False
    answer = Client().get(ADDRESS)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "api_off")


def test_pages_of_other_sites_may_read_it_if_a_setting_names_them(settings):
    settings.API_ORIGINS = ["https://tools.example.org"]
    answer = Client().get(ADDRESS, headers={"Origin": "https://tools.example.org"})
    assert answer["Access-Control-Allow-Origin"] == "https://tools.example.org"


def test_each_method_of_each_address_is_described():
    assert sorted((each.name, each.method) for each in described_operations()) == sorted(OPERATIONS)


def test_scopes_are_those_of_the_views():
    paths = describe_api()["paths"]
    assert paths["/v1/responses"]["post"]["description"] == "Scope: `chat`."
    assert paths["/v1/responses/{response_id}"]["get"]["description"] == "Scope: `chat` or `read`."
    assert paths["/v1/responses/{response_id}"]["delete"]["description"] == "Scope: `manage`."


def test_tools_can_read_it():
    """Each operation has an id of its own, each reference leads to a schema, and each schema is one."""
    described = describe_api()
    operations = [operation for methods in described["paths"].values() for operation in methods.values()]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    for schema in described["components"]["schemas"].values():
        jsonschema_rs.meta.validate({**schema, "components": described["components"]})
    assert len(list(schemathesis.openapi.from_dict(described).get_all_operations())) == len(operations)


@pytest.mark.parametrize("status", sorted({status for status, _ in KINDS.values()}))
def test_each_status_of_an_error_is_described(status):
    assert ERRORS[status]
