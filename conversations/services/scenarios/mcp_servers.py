"""Ask MCP servers for their tools. A listing that fails leaves the former one as it is."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
from collections.abc import Iterable
from dataclasses import replace

from django.db.models import Q
from django.utils import timezone

from conversations.core.errors import ToolError
from conversations.core.tools.listed_tools import Listing
from conversations.live.database_threads import in_indexer_thread
from conversations.models import McpServer, Scenario
from conversations.providers.mcp import open_session
from conversations.tools.mcp_listings import connection_to, store_listing, store_listing_error
from conversations.tools.mcp_tools import SEPARATOR

LISTING_HOLDS = dt.timedelta(minutes=10)
LISTING_SECONDS = 15.0  # an admin waits for it in front of a page
CHECK_SECONDS = 60.0
logger = logging.getLogger(__name__)


def list_tools(server: McpServer) -> None:
    """Ask *server* for its tools, and keep them or what went wrong."""
    try:
        listing = asyncio.run(_ask(server))
    except ToolError as error:
        store_listing_error(server, error)
    else:
        store_listing(server, listing)
    server.refresh_from_db()


async def keep_tools_listed() -> None:
    """Refresh the listings of servers that are in use from time to time, for ever, one server after the other."""
    while True:
        await asyncio.sleep(CHECK_SECONDS)
        try:
            while server := await in_indexer_thread(claim_stale)():
                await _list_tools(server)
        except Exception:
            logger.exception("tools of MCP servers could not be listed; it will be tried again")


async def _list_tools(server: McpServer) -> None:
    """As `list_tools`, without keeping a thread waiting."""
    try:
        listing = await _ask(server)
    except ToolError as error:
        await in_indexer_thread(store_listing_error)(server, error)
    else:
        await in_indexer_thread(store_listing)(server, listing)


async def _ask(server: McpServer) -> Listing:
    connection = connection_to(server)
    seconds = min(connection.timeout_seconds, LISTING_SECONDS)
    async with open_session(replace(connection, timeout_seconds=seconds)) as session:
        return await session.tools(server=server.name)


def claim_stale() -> McpServer | None:
    """Return a server in use whose listing is old, if there is one. No other process gets the same."""
    now = timezone.now()
    stale = Q(tried_at=None) | Q(tried_at__lt=now - LISTING_HOLDS)
    for server in _in_use(McpServer.objects.filter(stale, enabled=True)):
        if McpServer.objects.filter(stale, pk=server.pk).update(tried_at=now):
            return server
    return None


def _in_use(servers: Iterable[McpServer]) -> list[McpServer]:
    """Return those that a scenario names."""
    scenarios = Scenario.objects.order_by()
    return [each for each in servers if scenarios.filter(tools__icontains=f'"{each.name}{SEPARATOR}').exists()]
