"""Runs: which worker makes, or made, which reply."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from conversations.admin.base_admin import ReadOnlyAdmin
from conversations.admin.state_labels import STATE_COLOURS
from conversations.models import Run


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = ["id", "shown_state", "worker", "attempt", "reply", "created_at", "ended_at"]
    list_filter = ["state", "created_at"]
    search_fields = ["worker", "reply__conversation__owner__email"]
    search_help_text = _("Worker, or the email address of the conversation’s owner")
    list_select_related = ["reply"]
    ordering = ["-pk"]
    # Bookkeeping of reservations, which other pages sum up, of what is continued, and of the page that waits.
    exclude = ["payer", "reserved_usd", "reserved_at", "reasoning_before", "asked_before", "searches_web_now"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        rows: QuerySet[Run] = (
            super().get_queryset(request).defer("reply__content", "reply__grounding", "reply__tool_calls")
        )
        return rows

    @display(description=_("state"), ordering="state", label=STATE_COLOURS)
    def shown_state(self, run: Run) -> tuple[str, str]:
        return run.state, run.get_state_display()
