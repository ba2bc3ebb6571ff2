"""The boxes of the choice of tools: one for each, and for an MCP server one for all that it offers."""

from __future__ import annotations

import pytest

from conversations.forms.tool_choice import tool_checkboxes
from conversations.models import McpServer, Scenario

pytestmark = pytest.mark.django_db
SCHEMA = {"type": "object", "properties": {}}


def listed(name, *, read_only=False):
    return {"name": name, "description": "Reads.\nAnd more.", "parameters": SCHEMA, "read_only": read_only}


@pytest.fixture
def server():
    tools = [listed("read", read_only=True), listed("write")]
    return McpServer.objects.create(name="files", url="https://tools.example.org/mcp", tools=tools)


def boxes(*keys):
    return {box.key: box for box in tool_checkboxes(Scenario(tools=list(keys))) if box.key.startswith("files")}


def test_the_box_of_all_costs_what_all_cost(server):
    every = boxes()
    assert list(every) == ["files__*", "files__read", "files__write"]
    assert every["files__*"].tokens == every["files__read"].tokens + every["files__write"].tokens


def test_it_is_marked_if_any_needs_approval(server):
    McpServer.objects.update(believes_read_only=True)
    assert [box.needs_approval for box in boxes().values()] == [True, False, True]
    McpServer.objects.update(tools=[listed("read", read_only=True)])
    assert not any(box.needs_approval for box in boxes().values())


def test_they_stand_under_the_server_and_its_host(server):
    assert {box.source for box in boxes().values()} == {"files (tools.example.org)"}


def test_a_server_that_is_gone_leaves_what_was_chosen(server):
    McpServer.objects.update(enabled=False)
    assert [(box.key, box.tokens) for box in boxes("files__*", "files__read").values()] == [
        ("files__*", None),
        ("files__read", None),
    ]
