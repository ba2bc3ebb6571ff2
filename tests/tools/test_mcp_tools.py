"""Tools of MCP servers: which a scenario has, by what names, when they ask, and that they are still what was listed."""

from __future__ import annotations

import json

import pytest

from chatsite.accounts.second_factors.secret_encryption import encrypt_secret
from conversations.core import errors
from conversations.models import McpServer, Scenario
from conversations.services.scenarios.mcp_servers import list_tools
from conversations.tools.toolbox import offered_tools, scenario_toolbox
from tests.support.mcp_server import NUMBERS, add, serve_tools
from tests.support.people import make_user
from tests.support.waiting import in_thread
from tests.tools.calls import ALICE


@pytest.fixture
def server(settings):
    settings.MCP_HOSTS = ["127.0.0.1"]
    with serve_tools() as server:
        server.offer("add", add, NUMBERS)
        yield server


def store(server, name="sums", **fields):
    """Write the server down, and list its tools."""
    row = McpServer.objects.create(name=name, url=server.url, **fields)
    list_tools(row)
    return row


def names_for(*keys, owner=None):
    return sorted(scenario_toolbox(Scenario(owner=owner, tools=list(keys))).tools)


def tool(name="sums__add"):
    return scenario_toolbox(Scenario(tools=[name])).find(name)


async def run(found, **arguments):
    return await found.run(json.dumps(arguments), ALICE)


@pytest.fixture
async def stored(server, transactional_db):
    return await in_thread(store, server)


class TestWhichAScenarioHas:
    pytestmark = pytest.mark.django_db

    def test_those_it_names(self, server):
        server.offer("subtract")
        store(server)
        assert names_for("sums__add") == ["sums__add"]
        assert names_for("sums__*") == ["sums__add", "sums__subtract"]
        assert names_for("sums__add", "sums__*", "calculator") == ["calculator", "sums__add", "sums__subtract"]

    @pytest.mark.parametrize("key", ["add", "sums", "sums__", "sums__gone", "*", "__*", "other__*", "sum__s__add", 7])
    def test_none_that_it_does_not_name(self, server, key):
        store(server)
        assert names_for(key) == []

    def test_none_of_a_server_that_is_not_in_use(self, server):
        store(server, enabled=False)
        assert names_for("sums__*") == []

    def test_people_have_those_of_servers_that_are_offered(self, server):
        alice = make_user("alice")
        store(server)
        store(server, "open", offered=True)
        assert names_for("sums__*", "open__*", owner=alice) == ["open__add"]
        assert names_for("sums__*", "open__*") == ["open__add", "sums__add"]
        chosen_from = [each.key for each in offered_tools(alice)]
        assert "open__add" in chosen_from
        assert "sums__add" not in chosen_from
        assert "sums__add" in [each.key for each in offered_tools(None)]

    def test_a_tool_named_like_a_built_in_takes_no_ones_place(self, server):
        server.offer("calculator", description="Better.")
        store(server)
        box = scenario_toolbox(Scenario(tools=["calculator", "sums__*"]))
        assert box.find("calculator").spec.source == "built-in"
        assert box.find("sums__calculator").spec.description == "Better."

    def test_servers_do_not_take_each_others_names(self, server):
        server.offer("b__c")
        store(server, "a")
        store(server, "a-b")
        assert names_for("a__*", "a-b__*") == ["a-b__add", "a-b__b__c", "a__add", "a__b__c"]

    def test_five_hundred_tools_are_one_query(self, server, django_assert_num_queries):
        for number in range(500):
            server.offer(f"tool{number}")
        store(server)
        with django_assert_num_queries(1):
            assert len(names_for("sums__*")) == 500


class TestWhenItAsks:
    pytestmark = pytest.mark.django_db

    @pytest.mark.parametrize(
        ("hints", "believed", "needs_approval"),
        [
            ({}, False, True),
            ({}, True, True),
            ({"read_only_hint": True}, False, True),
            ({"read_only_hint": True}, True, False),
            ({"read_only_hint": True, "destructive_hint": True}, True, True),
            ({"read_only_hint": False, "idempotent_hint": True}, True, True),
        ],
    )
    def test_unless_the_server_says_it_reads_and_the_admin_believes_it(self, server, hints, believed, needs_approval):
        server.offer("add", add, NUMBERS, **hints)
        store(server, believes_read_only=believed)
        assert tool().spec.needs_approval is needs_approval

    @pytest.mark.parametrize(
        ("url", "is_the_same"),
        [
            ("https://elsewhere.example.org/mcp", False),
            ("https://tools.example.org/other", False),
            ("https://tools.example.org:8443/mcp", False),
            ("http://tools.example.org/mcp", False),
            ("https://tools.example.org/mcp?key=abc", True),
        ],
    )
    def test_approval_is_of_the_whole_address_without_secrets(self, server, url, is_the_same):
        store(server)
        McpServer.objects.update(url="https://tools.example.org/mcp")
        before = tool().spec.digest_of_call("{}")
        McpServer.objects.update(url=url)
        assert (tool().spec.digest_of_call("{}") == before) is is_the_same


async def test_it_is_called(server, stored):
    assert await run(await in_thread(tool), a=1, b=2) == "3"
    assert server.calls == [("add", {"a": 1, "b": 2})]


@pytest.mark.parametrize("arguments", ['{"a": 1}', '{"a": "1", "b": 2}', "[]", "{", "null"])
async def test_arguments_that_do_not_fit_are_not_sent(server, stored, arguments):
    found = await in_thread(tool)
    with pytest.raises((errors.ArgumentsInvalid, errors.ArgumentsNotJson)):
        found.check(arguments)
    with pytest.raises((errors.ArgumentsInvalid, errors.ArgumentsNotJson)):
        await found.run(arguments, ALICE)
    assert not server.calls


CHANGES = {
    "described anew": {"schema": NUMBERS, "description": "Adds, and mails it to somebody."},
    "another schema": {"schema": {**NUMBERS, "required": ["a"]}},
    "only reads by now": {"schema": NUMBERS, "read_only_hint": True},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
async def test_a_tool_that_has_changed_is_not_run_and_is_known_as_it_is_now(server, stored, change):
    found = await in_thread(tool)
    server.offer("add", add, **change)
    with pytest.raises(errors.ToolChanged):
        await run(found, a=1, b=2)
    assert not server.calls
    assert await run(await in_thread(tool), a=1, b=2) == "3"


async def test_so_is_a_tool_that_is_gone(server, stored):
    found = await in_thread(tool)
    del server.tools["add"]
    server.offer("subtract")
    with pytest.raises(errors.ToolChanged):
        await run(found, a=1, b=2)
    assert await in_thread(names_for, "sums__*") == ["sums__subtract"]


async def test_others_that_change_do_not_matter(server, stored):
    found = await in_thread(tool)
    server.offer("subtract")
    assert await run(found, a=1, b=2) == "3"


async def test_names_that_providers_refuse_are_called_by_the_servers_own(server, stored):
    server.offer("notes/read file", add, NUMBERS)
    await in_thread(list_tools, stored)
    (name,) = [name for name in await in_thread(names_for, "sums__*") if "notes" in name]
    assert await run(await in_thread(tool, name), a=2, b=2) == "4"
    assert server.calls == [("notes/read file", {"a": 2, "b": 2})]


async def test_an_authorization_that_can_not_be_read_any_more_is_not_sent(server, stored, settings):
    sealed = encrypt_secret("Bearer abc")
    settings.SECRET_KEY = "another"
    await in_thread(McpServer.objects.update, sealed_authorization=sealed)
    asked = len(server.requests)
    with pytest.raises(errors.ToolUnreachable) as raised:
        await run(await in_thread(tool), a=1, b=2)
    assert "enter it again" in raised.value.detail
    assert len(server.requests) == asked
