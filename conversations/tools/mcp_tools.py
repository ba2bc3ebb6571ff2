"""Tools of MCP servers, as scenarios name them and as they are called."""

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
from .mcp_listings import connection_to, keep_listing
from .tool import ToolContext

SEPARATOR = "__"
ALL = "*"


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool as its *server* listed it, which it has to be still when it is called."""

    server: McpServer
    listed: ListedTool

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name=name_for_models(self.server.name, self.listed.name),
            description=self.listed.description,
            parameters=self.listed.parameters,
            source=source_of(self.server),
            asks=not (self.listed.read_only and self.server.believes_read_only),
            address=_address_of(self.server),
        )

    @property
    def timeout_seconds(self) -> float:
        return self.server.timeout_seconds

    def check(self, arguments: str) -> None:
        """Raises `ArgumentsBroken`, `ArgumentsUnfit`."""
        check_arguments(arguments, self.listed.parameters)

    async def run(self, arguments: str, context: ToolContext) -> str:
        """Call the tool, if it is still the one that was listed. Raises a `ToolError`."""
        # Somebody else's schema may take a second, and that must not be everybody's.
        values = await asyncio.to_thread(check_arguments, arguments, self.listed.parameters)
        async with open_session(connection_to(self.server)) as session:
            listing = await session.tools(server=self.server.name)
            if self.listed not in listing.kept:  # consent was given to what the server said of it before
                await in_worker_thread(keep_listing)(self.server, listing)
                raise ToolChanged
            return await session.call(self.listed.name, values)


def source_of(server: McpServer) -> str:
    """Return what people are told of where a call goes: consent is given to the host, too."""
    return f"{server.name} ({urlsplit(server.url).netloc})"[:100]


def _address_of(server: McpServer) -> str:
    """Return the whole address without what comes after the path: some put secrets there."""
    return urlsplit(server.url)._replace(query="", fragment="").geturl()


def tools_of(server: McpServer) -> list[McpTool]:
    """Return the tools that *server* listed last."""
    return [McpTool(server, ListedTool(**each)) for each in server.tools]


def mcp_tools(scenario: Scenario) -> Iterator[McpTool]:
    """Yield the tools of MCP servers that *scenario* names, as far as they are there and it may have them."""
    named = set(_named(scenario.tools))
    if named:
        for tool in offered_mcp_tools(is_the_sites=scenario.owner_id is None, names={name for name, _ in named}):
            if {(tool.server.name, ALL), (tool.server.name, tool.spec.name)} & named:
                yield tool


def _named(keys: Iterable[object]) -> Iterator[tuple[str, str]]:
    """Yield server and name of each key that means a tool of a server, or all of them."""
    for key in keys:
        server, separator, tool = str(key).partition(SEPARATOR)
        if separator:
            yield server, ALL if tool == ALL else str(key)


def key_of_all(key: str) -> str:
    """Return what means all tools of the server that *key* names a tool of."""
    return f"{key.partition(SEPARATOR)[0]}{SEPARATOR}{ALL}"


def offered_mcp_tools(*, is_the_sites: bool, names: Iterable[str] | None = None) -> Iterator[McpTool]:
    """Yield the tools that a scenario may have: of all servers in use for the site's, of offered ones for people's.

    *names* are the servers to look for, all without.
    """
    servers = McpServer.objects.filter(enabled=True)
    if not is_the_sites:
        servers = servers.filter(offered=True)
    if names is not None:
        servers = servers.filter(name__in=names)
    for server in servers.order_by("name"):
        yield from tools_of(server)
