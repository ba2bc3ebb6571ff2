"""`manage.py list_mcp_tools NAME`: ask an MCP server for its tools, as the button in the admin does."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from conversations.core.errors.stored_errors import sentence_for
from conversations.management.database_command import DatabaseCommand
from conversations.models import McpServer
from conversations.services.scenarios.mcp_servers import list_tools
from conversations.tools.mcp_tools import server_tools


class Command(DatabaseCommand):
    help = "List the tools of an MCP server again and store the list."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="the server's name in the admin")

    def handle(self, *, name: str, **options: Any) -> None:
        server = McpServer.objects.filter(name=name).first()
        if server is None:
            raise CommandError(f"There is no MCP server {name}.")
        list_tools(server)
        if server.list_error:
            raise CommandError(f"{sentence_for(server.list_error)} {server.list_error_detail}".strip())
        for tool in server_tools(server):
            self.stdout.write(f"{tool.spec.name}  {'needs approval' if tool.spec.needs_approval else 'runs at once'}")
        for refused in server.refused_tools:
            self.stdout.write(f"rejected: {refused['name']}  {refused['reason']}")
