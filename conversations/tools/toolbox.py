"""The toolbox of a scenario: built-in tools, the site's own, and those of MCP servers, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NoReturn

from chatsite.accounts.models import User
from conversations.core.errors import ToolUnknown
from conversations.core.tools.tool_spec import BUILT_IN, OWN, ToolSpec
from conversations.models import Scenario

from .mcp_tools import all_tools_key, mcp_tools, offered_mcp_tools
from .tool import Tool, ToolContext


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools that a language model may call now."""

    tools: Mapping[str, Tool] = field(default_factory=dict)

    @classmethod
    def of(cls, tools: Iterable[Tool]) -> Toolbox:
        return cls({tool.spec.name: tool for tool in tools})

    @property
    def schemas(self) -> tuple[dict[str, Any], ...]:
        """Return the schemas that go with a request, in an order that stays the same for a provider's cache."""
        return tuple(self.tools[name].spec.schema for name in sorted(self.tools))

    def find(self, name: str) -> Tool:
        """Return the tool of that name. Raises `ToolUnknown`, which lists the names that exist."""
        if (tool := self.tools.get(name)) is None:
            raise ToolUnknown(detail=f"There are: {', '.join(sorted(self.tools)) or 'none'}.")
        return tool


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as pages offer it for a scenario: *key* is what the scenario keeps."""

    key: str
    spec: ToolSpec


NO_TOOLS = Toolbox()
SOURCES_OF_FUNCTIONS = (BUILT_IN, OWN)
NO_PARAMETERS = {"type": "object", "properties": {}}


def python_tools() -> Mapping[str, Tool]:
    """Return the built-in tools and the site's own."""
    from .registry import registry  # takes a tenth of a second once, and 10 MB for pydantic

    return registry().tools


def scenario_toolbox(scenario: Scenario) -> Toolbox:
    """Return the tools that *scenario* allows, as far as they are there. Asks the database only for MCP servers' tools.

    `Scenario.tools` is a list of names: those of built-in tools and of the site's own, such as `calculator`, and of MCP
    servers' as `server__tool`, or `server__*` for all that the server offers.
    """
    if not scenario.tools:
        return NO_TOOLS
    functions = python_tools()
    own = (functions[name] for name in scenario.tools if name in functions)
    return Toolbox.of(chain(own, mcp_tools(scenario)))


def offered_tools(owner: User | None) -> list[OfferedTool]:
    """Return the tools that may be chosen for a scenario of *owner*: built-in ones, the site's own, and MCP servers'.

    A scenario of the site (*owner* None) may have the tools of all servers; a user's those of servers that are offered.
    """
    offered = [OfferedTool(name, tool.spec) for name, tool in python_tools().items()]
    remote = (tool.spec for tool in offered_mcp_tools(is_site_owned=owner is None))
    return [*offered, *(OfferedTool(spec.name, spec) for spec in remote)]


def offered_keys(owner: User | None) -> set[str]:
    """Return the keys that a scenario of *owner* may keep: each offered tool's, and `server__*` for all of a server."""
    tools = offered_tools(owner)
    return {tool.key for tool in tools} | {
        all_tools_key(tool.key) for tool in tools if tool.spec.source not in SOURCES_OF_FUNCTIONS
    }


@dataclass(frozen=True, slots=True)
class WithdrawnTool:
    """A tool that is gone: only its *name* is known, and it can't be called."""

    name: str
    timeout_seconds: float = 0.0

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, "", NO_PARAMETERS)

    def check(self, arguments: str) -> NoReturn:
        raise ToolUnknown

    async def run(self, arguments: str, context: ToolContext) -> NoReturn:
        raise ToolUnknown


@dataclass(frozen=True, slots=True)
class ProgramToolbox(Toolbox):
    """Functions of the program that asked for a reply, which runs them itself; *given* are their schemas."""

    given: tuple[dict[str, Any], ...] = ()

    @property
    def schemas(self) -> tuple[dict[str, Any], ...]:
        return self.given


def program_toolbox(schemas: Iterable[dict[str, Any]]) -> ProgramToolbox:
    """Return the functions that *schemas* describe, which can't be called here."""
    given = tuple(schemas)
    names = (schema["function"]["name"] for schema in given)
    return ProgramToolbox({name: WithdrawnTool(name) for name in names}, given)


def withdrawn_tools(names: Iterable[str]) -> Toolbox:
    """Return a toolbox with nothing but names, for a prompt with calls of tools that are gone.

    Many providers refuse a prompt with tool calls unless tools go with the request.
    """
    return Toolbox.of(map(WithdrawnTool, names))
