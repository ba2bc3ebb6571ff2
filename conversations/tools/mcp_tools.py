"""Tools of MCP servers: found by the keys that scenarios keep, and called through a session."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from conversations.core.errors import ToolChanged
from conversations.core.tools.listed_tools import ListedTool, name_for_models
from conversations.core.tools.tool_spec import ToolSpec
from conversations.live.database_threads import in_worker_thread
from conversations.models import McpServer, Scenario
from conversations.providers.mcp import open_session

from .arguments import check_arguments
from .mcp_listings import connection_to, store_listing
from .tool import ToolContext

SEPARATOR = "__"
ALL_TOOLS = "*"


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool as its *server* listed it, and must still list it when it is called."""

    server: McpServer
    listed: ListedTool

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name=name_for_models(self.server.name, self.listed.name),
            description=self.listed.description,
            parameters=self.listed.parameters,
            source=mcp_source(self.server),
            needs_approval=not (self.listed.read_only and self.server.believes_read_only),
            address=_address(self.server),
        )

    @property
    def timeout_seconds(self) -> float:
        return self.server.timeout_seconds

    def check(self, arguments: str) -> None:
        """Raise `ArgumentsNotJson` or `ArgumentsInvalid` unless *arguments* fits the listed schema."""
        check_arguments(arguments, self.listed.parameters)

    async def run(self, arguments: str, context: ToolContext) -> str:
        """Call the tool, if it is still the one that was listed. Raises a `ToolError`."""
        # A foreign schema may take a second to check, in which the event loop must not stand still.
        values = await asyncio.to_thread(check_arguments, arguments, self.listed.parameters)
        async with open_session(connection_to(self.server)) as session:
            listing = await session.tools(server=self.server.name)
            if self.listed not in listing.kept:  # approval was given to the tool as it was listed before
                await in_worker_thread(store_listing)(self.server, listing)
                raise ToolChanged
            return await session.call(self.listed.name, values)


def mcp_source(server: McpServer) -> str:
    """Return the server's name and host, as pages show them: approval is given to the host, too."""
    return f"{server.name} ({urlsplit(server.url).netloc})"[:100]


def _address(server: McpServer) -> str:
    """Return the whole address without what comes after the path: some put secrets there."""
    return urlsplit(server.url)._replace(query="", fragment="").geturl()


def server_tools(server: McpServer) -> list[McpTool]:
    """Return the tools that *server* listed last."""
    return [McpTool(server, ListedTool(**each)) for each in server.tools]


def mcp_tools(scenario: Scenario) -> Iterator[McpTool]:
    """Yield the tools of MCP servers that *scenario* names, as far as they are there and it may have them."""
    named = set(_named(scenario.tools))
    if named:
        for tool in offered_mcp_tools(is_site_owned=scenario.owner_id is None, names={name for name, _ in named}):
            if {(tool.server.name, ALL_TOOLS), (tool.server.name, tool.spec.name)} & named:
                yield tool


def _named(keys: Iterable[object]) -> Iterator[tuple[str, str]]:
    """Yield server and name of each key that means a tool of a server, or all of them."""
    for key in keys:
        server, separator, tool = str(key).partition(SEPARATOR)
        if separator:
            yield server, ALL_TOOLS if tool == ALL_TOOLS else str(key)


def all_tools_key(key: str) -> str:
    """Return the key for all tools of the server that *key* names a tool of."""
    return f"{key.partition(SEPARATOR)[0]}{SEPARATOR}{ALL_TOOLS}"


def offered_mcp_tools(*, is_site_owned: bool, names: Iterable[str] | None = None) -> Iterator[McpTool]:
    """Yield the tools that a scenario may have: of all servers in use for the site's, of offered ones for people's.

    *names* are the servers to look for; None is all.
    """
    servers = McpServer.objects.filter(enabled=True)
    if not is_site_owned:
        servers = servers.filter(offered=True)
    if names is not None:
        servers = servers.filter(name__in=names)
    for server in servers.order_by("name"):
        yield from server_tools(server)
