"""Listings of MCP servers: kept as they were checked, and the former one as long as there is no new one."""

from __future__ import annotations

import asyncio
import datetime as dt

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from conversations.models import McpServer, Scenario
from conversations.services.scenarios import mcp_servers
from conversations.services.scenarios.mcp_servers import LISTING_HOLDS, claim_stale, keep_tools_listed, list_tools
from tests.support.mcp_server import serve_tools
from tests.support.waiting import in_thread

LONG_AGO = LISTING_HOLDS + dt.timedelta(minutes=1)


@pytest.fixture
def server(settings):
    settings.MCP_HOSTS = ["127.0.0.1"]
    with serve_tools() as server:
        server.offer("look", description="Looks around.", read_only_hint=True)
        yield server


@pytest.fixture
def stored(server, db):
    return McpServer.objects.create(name="eyes", url=server.url)


def use(*keys):
    return Scenario.objects.create(name="Seeing", tools=list(keys))


def test_a_listing_is_kept_with_when_it_was_made(stored):
    list_tools(stored)
    expected = {"name": "look", "description": "Looks around.", "read_only": True}
    assert stored.tools == [expected | {"parameters": {"type": "object", "properties": {}}}]
    assert timezone.now() - stored.listed_at < dt.timedelta(minutes=1)
    assert (stored.refused_tools, stored.list_error) == ([], "")


def test_what_is_not_taken_is_kept_by_name_and_reason(server, stored):
    server.offer("bomb", schema={"type": "object", "properties": {"x": {"$ref": "file:///etc/passwd"}}})
    list_tools(stored)
    assert stored.refused_tools == [{"name": "bomb", "reason": "schema_refers_outside"}]
    assert [each["name"] for each in stored.tools] == ["look"]


def test_a_listing_that_fails_leaves_the_former_one(server, stored):
    list_tools(stored)
    before = stored.tools, stored.listed_at
    stored.url = server.nonsense_url("down")
    stored.save()
    list_tools(stored)
    assert (stored.tools, stored.listed_at) == before
    assert (stored.list_error, stored.list_error_detail) == ("tool_unreachable", "HTTP 503.")


def test_a_listing_that_succeeds_forgets_the_error(stored):
    McpServer.objects.update(list_error="tool_timed_out", list_error_detail="x")
    list_tools(stored)
    assert (stored.list_error, stored.list_error_detail) == ("", "")


def test_an_address_inside_is_not_asked(server, stored, settings):
    settings.MCP_HOSTS = []
    list_tools(stored)
    assert "private network" in stored.list_error_detail
    assert not server.requests


def test_what_an_old_address_listed_is_not_kept_for_the_new_one(server, stored):
    McpServer.objects.update(url="https://elsewhere.example.org/mcp")
    list_tools(stored)  # as it was read before the change
    assert (stored.tools, stored.url) == ([], "https://elsewhere.example.org/mcp")


def test_only_one_process_lists_a_server_that_is_used_and_was_not_listed_for_long(stored):
    use("eyes__*")
    McpServer.objects.update(tried_at=timezone.now() - LONG_AGO)
    assert claim_stale() == stored
    assert claim_stale() is None


@pytest.mark.parametrize("keys", [[], ["calculator"], ["other-eyes__look"], ["eyes"]])
def test_one_that_no_scenario_names_is_left_alone(stored, keys):
    use(*keys)
    assert claim_stale() is None


def test_so_is_one_that_was_listed_just_now_or_is_not_in_use(stored):
    use("eyes__look")
    list_tools(stored)
    assert claim_stale() is None
    McpServer.objects.update(tried_at=None, enabled=False)
    assert claim_stale() is None


@pytest.mark.django_db(transaction=True)
async def test_in_the_background_listings_are_renewed_whatever_becomes_of_one(server, monkeypatch):
    monkeypatch.setattr(mcp_servers, "CHECK_SECONDS", 0.01)
    await in_thread(McpServer.objects.create, name="blind", url=server.nonsense_url("html"))
    await in_thread(McpServer.objects.create, name="eyes", url=server.url)
    await in_thread(use, "blind__*", "eyes__*")
    keeping = asyncio.create_task(keep_tools_listed())
    while not await in_thread(McpServer.objects.exclude(listed_at=None).exists):
        await asyncio.sleep(0.02)
    keeping.cancel()
    await asyncio.wait([keeping])
    assert (await in_thread(McpServer.objects.get, name="blind")).list_error == "tool_unreachable"


def test_the_command_lists_them_and_says_which_need_approval(server, stored, capsys):
    server.offer("bomb", schema={"type": "object", "properties": []})
    call_command("list_mcp_tools", "eyes")
    assert capsys.readouterr().out == "eyes__look  needs approval\nrejected: bomb  not_a_schema\n"


@pytest.mark.parametrize(("name", "words"), [("eyes", "HTTP 503"), ("ears", "no MCP server ears")])
def test_the_command_fails_in_words(server, stored, name, words):
    McpServer.objects.update(url=server.nonsense_url("down"))
    with pytest.raises(CommandError, match=words):
        call_command("list_mcp_tools", name)
