"""Stored listings of MCP servers' tools, and how to connect to a server."""

from __future__ import annotations

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from chatsite.accounts.second_factors.secret_encryption import decrypt_secret_or_none
from conversations.core.errors import ToolError, ToolUnreachable
from conversations.core.errors.error_messages import gettext_noop
from conversations.core.tools.listed_tools import Listing
from conversations.models import McpServer
from conversations.providers.mcp import McpConnection

MOST_REFUSED = 100  # that are kept by name


def connection_to(server: McpServer) -> McpConnection:
    """Return the connection to *server*. Raises `ToolUnreachable` if its authorization was sealed with another key."""
    authorization = decrypt_secret_or_none(server.sealed_authorization) if server.sealed_authorization else ""
    if authorization is None:
        words = gettext_noop("Its authorization can’t be read any more. An admin has to enter it again.")
        raise ToolUnreachable(detail=words)
    return McpConnection(
        server.url, authorization, timeout_seconds=server.timeout_seconds, named_hosts=settings.MCP_HOSTS
    )


def store_listing(server: McpServer, listing: Listing) -> None:
    """Store the tools that *server* has just listed, accepted and refused."""
    now = timezone.now()
    _if_unchanged(server).update(
        tools=[tool.to_json() for tool in listing.kept],
        refused_tools=[tool._asdict() for tool in listing.refused[:MOST_REFUSED]],
        listed_at=now,
        tried_at=now,
        list_error="",
        list_error_detail="",
    )


def store_listing_error(server: McpServer, error: ToolError) -> None:
    """Store the error, and keep the former listing."""
    longest = McpServer._meta.get_field("list_error_detail").max_length
    _if_unchanged(server).update(
        tried_at=timezone.now(), list_error=error.code, list_error_detail=error.detail[:longest]
    )


def _if_unchanged(server: McpServer) -> QuerySet[McpServer]:
    """Return the row, unless an admin has sent it elsewhere or renamed it since it was asked."""
    return McpServer.objects.filter(pk=server.pk, url=server.url, name=server.name)
