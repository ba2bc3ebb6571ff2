"""The tools of a scenario: built-in ones, the site's own, and those of MCP servers, by the names that models call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from chatsite.accounts.models import User
from conversations.core.errors import ToolUnknown
from conversations.core.tools.tool_spec import BUILT_IN, OWN, ToolSpec
from conversations.models import Scenario

from .mcp_tools import key_of_all, mcp_tools, offered_mcp_tools
from .registry import registry
from .tool import Tool


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools that a language model may call now."""

    tools: Mapping[str, Tool] = field(default_factory=dict)

    @classmethod
    def of(cls, tools: Iterable[Tool]) -> Toolbox:
        return cls({tool.spec.name: tool for tool in tools})

    @property
    def schemas(self) -> tuple[dict[str, Any], ...]:
        """Return what goes with a request, in an order that stays the same for a provider's cache."""
        return tuple(self.tools[name].spec.schema for name in sorted(self.tools))

    def find(self, name: str) -> Tool:
        """Raises `ToolUnknown`, which names those that there are."""
        if (tool := self.tools.get(name)) is None:
            raise ToolUnknown(detail=f"There are: {', '.join(sorted(self.tools)) or 'none'}.")
        return tool


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as pages offer it for a scenario: *key* is what the scenario keeps."""

    key: str
    spec: ToolSpec


NO_TOOLS = Toolbox()
THE_SITES = (BUILT_IN, OWN)


def toolbox_of(scenario: Scenario) -> Toolbox:
    """Return the tools that *scenario* allows, as far as they are there. Asks the database only for MCP servers' tools.

    `Scenario.tools` is a list of names: those of built-in tools and of the site's own, such as `calculator`, and of MCP
    servers' as `server__tool`, or `server__*` for all that the server offers.
    """
    if not scenario.tools:
        return NO_TOOLS
    functions = registry().tools
    own = (functions[name] for name in scenario.tools if name in functions)
    return Toolbox.of(chain(own, mcp_tools(scenario)))


def offered_tools(owner: User | None) -> list[OfferedTool]:
    """Return the tools that may be chosen for a scenario of *owner*: built-in ones, the site's own, and MCP servers'.

    Those are the tools of all servers where nobody owns it but the site, and of those that are offered to people else.
    """
    offered = [OfferedTool(name, tool.spec) for name, tool in registry().tools.items()]
    remote = (tool.spec for tool in offered_mcp_tools(is_the_sites=owner is None))
    return [*offered, *(OfferedTool(spec.name, spec) for spec in remote)]


def offered_keys(owner: User | None) -> set[str]:
    """Return what a scenario of *owner* may name: each of `offered_tools`, and all that a server offers at once."""
    tools = offered_tools(owner)
    return {tool.key for tool in tools} | {key_of_all(tool.key) for tool in tools if tool.spec.source not in THE_SITES}
