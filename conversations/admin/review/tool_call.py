"""Tool calls: what language models asked for, who allowed it, and the outcome. Their content is shown in a reading.

The name of a tool that does not exist was made up by a language model: it is content like any other.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from conversations.admin.base_admin import ReadOnlyAdmin
from conversations.admin.filters import ToolSourceFilter
from conversations.admin.review.content_access import logged_access
from conversations.admin.state_labels import STATE_COLOURS
from conversations.core.errors.stored_errors import sentence_for
from conversations.core.tools.tool_spec import BUILT_IN, OWN
from conversations.models import ReadWhat, ToolCall
from conversations.templatetags import figures

CONTENT_FIELDS = ("arguments", "result")
MOST_CHARACTERS = 20_000
SOURCES = {"": "–", BUILT_IN: _("Built in"), OWN: _("The site’s own")}
REPLY_CONTENT_FIELDS = ("content", "reasoning", "grounding", "tool_calls", "error_params")


@admin.register(ToolCall)
class ToolCallAdmin(ReadOnlyAdmin):
    list_display = [
        "created_at",
        "owner",
        "shown_tool",
        "shown_source",
        "step",
        "shown_state",
        "shown_error",
        "shown_asked",
        "seconds",
    ]
    list_filter = ["created_at", "state", "needs_approval", ToolSourceFilter]
    linked_lookups = ("reply", "reply__conversation")
    search_fields = ["reply__conversation__owner__email", "error_code"]
    search_help_text = _("Email address of the conversation’s owner, or error code")
    list_select_related = ["reply__conversation__owner"]
    ordering = ["-pk"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ToolCall]:
        queryset = (
            super().get_queryset(request).defer(*CONTENT_FIELDS, *(f"reply__{name}" for name in REPLY_CONTENT_FIELDS))
        )
        rows: QuerySet[ToolCall] = queryset.annotate(duration=F("ended_at") - F("started_at"))
        return rows

    @display(description=_("owner"), ordering="reply__conversation__owner__email")
    def owner(self, call: ToolCall) -> str:
        return call.reply.conversation.owner.email

    @display(description=_("tool"))
    def shown_tool(self, call: ToolCall) -> str:
        return shown_tool(call)

    @display(description=_("source"), ordering="source")
    def shown_source(self, call: ToolCall) -> str:
        return shown_source(call)

    @display(description=_("state"), ordering="state", label=STATE_COLOURS)
    def shown_state(self, call: ToolCall) -> tuple[str, str]:
        return call.state, call.get_state_display()

    @display(description=_("error"), ordering="error_code")
    def shown_error(self, call: ToolCall) -> str:
        return sentence_for(call.error_code, translate=gettext) if call.error_code else "–"

    @display(description=_("needs approval"), ordering="needs_approval")
    def shown_asked(self, call: ToolCall) -> str:
        return gettext("yes") if call.needs_approval else "–"

    @display(description=_("duration"), ordering="duration")
    def seconds(self, call: ToolCall) -> str:
        return figures.seconds(
            (call.ended_at - call.started_at).total_seconds() if call.ended_at and call.started_at else None
        )

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: ToolCall, **kwargs: Any
    ) -> HttpResponse:
        access = logged_access(request, obj.reply.conversation, ReadWhat.CALL, str(obj.pk))
        shown = {
            "access": access,
            "tool": shown_tool(obj),
            "source": shown_source(obj),
            "outcome": self.shown_state(obj),
            "reason": self.shown_error(obj),
            "seconds": self.seconds(obj),
        }
        result = result_of(obj) if access.is_open else ""
        shown |= {"result": result[:MOST_CHARACTERS], "is_cut": len(result) > MOST_CHARACTERS}
        response: HttpResponse = super().render_change_form(request, context | shown, *args, obj=obj, **kwargs)
        return response


def shown_tool(call: ToolCall) -> str:
    """Return the name of a tool that exists or existed."""
    return call.tool if call.source else gettext("unknown tool")


def shown_source(call: ToolCall) -> str:
    """Return the label of its source, or the name of the MCP server."""
    return str(SOURCES.get(call.source, call.source))


def result_of(call: ToolCall) -> str:
    """Return the result as the language model gets it, from wherever it is kept."""
    return call.message.content if call.message else call.result
