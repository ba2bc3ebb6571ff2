"""MCP servers: remote servers whose tools scenarios may use. Only admins see and edit them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.forms import ModelForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from unfold.decorators import display

from chatsite.accounts.admin.base_admin import EditConflictAdmin, StateColours
from conversations.admin.base_admin import LargeListAdmin
from conversations.admin.scenarios.mcp_server_form import McpServerForm
from conversations.core.errors.stored_errors import sentence_for
from conversations.core.tools import listed_tools
from conversations.core.tools.tool_schemas import Flaw
from conversations.models import McpServer
from conversations.services.scenarios.mcp_servers import list_tools
from conversations.templatetags import figures
from conversations.tools.mcp_tools import McpTool, server_tools

SAVED_SERVER = "saved_server"  # the attribute of a request that has stored one
LIST_TOOLS = "conversations_mcpserver_list_tools"
STATE_COLOURS = StateColours({"failed": "danger", "not listed": "info"})
REASONS: Mapping[str, Promise] = {
    listed_tools.TOO_MANY: _("The server offers more tools than are accepted."),
    listed_tools.NAME_UNFIT: _("Its name is empty, too long, or can’t be stored."),
    listed_tools.NAME_TAKEN: _("Language models could not tell its name apart from another tool’s."),
    Flaw.TOO_LARGE: _("Its schema is too large."),
    Flaw.TOO_DEEP: _("Its schema is nested too deeply."),
    Flaw.REFERS_OUTSIDE: _("Its schema refers to another document, which is not fetched."),
    Flaw.EXPANDS: _("Its schema grows too large through its references."),
    Flaw.NOT_A_SCHEMA: _("Its schema is not the schema of an object."),
}


@dataclass(frozen=True)
class ShownServer:
    """The state and the tools of *server*, which the admin shows below its form."""

    server: McpServer
    most_tools: int = listed_tools.MOST_TOOLS

    @property
    def tools(self) -> list[McpTool]:
        return server_tools(self.server)

    @property
    def rows(self) -> list[tuple[McpTool, str]]:
        """Each tool with its schema, written to be read."""
        return [(tool, json.dumps(tool.listed.parameters, indent=2, ensure_ascii=False)) for tool in self.tools]

    @property
    def refused(self) -> list[tuple[str, str]]:
        """The names of the tools that were refused, each with the reason."""
        return [(each["name"], str(REASONS.get(each["reason"], ""))) for each in self.server.refused_tools]

    @property
    def error(self) -> str:
        return error_of(self.server)


def error_of(server: McpServer) -> str:
    """Return the sentence of the error of the last listing; blank if there was none."""
    if not server.list_error:
        return ""
    detail = gettext(server.list_error_detail) if server.list_error_detail else ""  # ours, or the server's own words
    return f"{sentence_for(server.list_error, translate=gettext)} {detail}".strip()


@admin.register(McpServer)
class McpServerAdmin(EditConflictAdmin, LargeListAdmin):
    form = McpServerForm
    list_display = ["name", "host", "state", "tool_count", "offered", "believes_read_only", "listed_at"]
    list_filter = ["enabled", "offered"]
    actions = None
    warn_unsaved_form = True
    change_form_outer_after_template = "admin/conversations/mcpserver/_tools.html"
    fieldsets = [
        (None, {"fields": ["name", "url", "authorization", "forget_authorization", "timeout_seconds"]}),
        (_("Who may use it"), {"fields": ["enabled", "offered", "believes_read_only"]}),
    ]

    class Media:
        css = {"all": ["admin/mcp.css"]}

    def get_fieldsets(self, request: HttpRequest, obj: McpServer | None = None) -> Any:
        if obj and obj.sealed_authorization:
            return super().get_fieldsets(request, obj)
        name, options = self.fieldsets[0]
        fields = [field for field in options["fields"] if field != "forget_authorization"]
        return [(name, {"fields": fields}), *self.fieldsets[1:]]

    @display(description=_("host"))
    def host(self, server: McpServer) -> str:
        return urlsplit(server.url).netloc

    @display(description=_("state"), label=STATE_COLOURS)
    def state(self, server: McpServer) -> tuple[str, str]:
        if not server.enabled:
            return "off", gettext("not in use")
        if server.list_error:
            return "failed", gettext("could not be listed")
        return ("in use", gettext("in use")) if server.listed_at else ("not listed", gettext("not listed yet"))

    @display(description=_("tools"))
    def tool_count(self, server: McpServer) -> str:
        return figures.count(len(server.tools))

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        if server := kwargs.get("obj"):
            context |= {"shown": ShownServer(server), "may_list": self.has_change_permission(request, server)}
        response: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return response

    def save_model(self, request: HttpRequest, obj: McpServer, form: ModelForm[Any], change: Any) -> None:
        super().save_model(request, obj, form, change)
        setattr(request, SAVED_SERVER, obj)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """List a server's tools once its row is committed: no transaction waits for a machine of others."""
        response = super().changeform_view(request, *args, **kwargs)
        server = getattr(request, SAVED_SERVER, None)
        if server and server.enabled:
            self._list_tools(request, server)
        return response

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.list_tools))
        return [path("<int:pk>/list-tools/", view, name=LIST_TOOLS), *super().get_urls()]

    def list_tools(self, request: HttpRequest, pk: int) -> HttpResponse:
        """List its tools again, and store them."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        server = self.get_object(request, str(pk))
        if server is None:
            raise Http404
        self._list_tools(request, server)
        self.log_change(request, server, "Listed its tools.")
        return redirect(reverse("admin:conversations_mcpserver_change", args=[pk]))

    def _list_tools(self, request: HttpRequest, server: McpServer) -> None:
        list_tools(server)
        if error := error_of(server):
            messages.error(request, gettext("Its tools could not be listed. %(error)s") % {"error": error})
            return
        count = len(server.tools)
        words = ngettext("It offers %(count)s tool.", "It offers %(count)s tools.", count)
        messages.success(request, words % {"count": figures.count(count)})
