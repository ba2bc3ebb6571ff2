"""Completions, the rows of the ledger: requests to providers, their usage and their cost."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from conversations.admin.base_admin import ReadOnlyAdmin
from conversations.admin.dashboard.address import EXPORT
from conversations.admin.dashboard.export import figures_csv
from conversations.admin.filters import STOPPED, CostFilter, LanguageModelFilter, OutcomeFilter
from conversations.admin.ledger.prompt import prompt, prompt_json
from conversations.admin.ledger.window_record import ShownWindow
from conversations.admin.state_labels import STATE_COLOURS, STATE_LABELS
from conversations.models import Completion
from conversations.selectors.figures.usage_columns import BY_COST
from conversations.templatetags import figures

# Lookups in links of other pages, beside the filters of the list.
LINKED_LOOKUPS = (
    *("user", "user__isnull", "conversation", "conversation__isnull", "scenario", "scenario__isnull"),
    *("reply", "error_code", "language_model"),
)


@admin.register(Completion)
class CompletionAdmin(ReadOnlyAdmin):
    list_display = [
        "created_at",
        "user",
        "language_model",
        "what_for",
        "input",
        "output_tokens",
        "cost",
        "outcome",
        "duration",
    ]
    list_filter = ["created_at", OutcomeFilter, CostFilter, LanguageModelFilter, "purpose"]
    linked_lookups = LINKED_LOOKUPS
    search_fields = ["user__email", "language_model", "error_code", "provider_request_id"]
    search_help_text = _("Email address, language model, error code or the provider’s request id")
    list_select_related = ["user"]

    def get_queryset(self, request: HttpRequest) -> Any:
        queryset = super().get_queryset(request)
        return queryset.defer("window") if _is_list(request) else queryset

    def get_urls(self) -> list[URLPattern]:
        """Add the files of the first page, which are figures of this list, and what was sent, in a reading."""
        view = self.admin_site.admin_view(figures_csv)
        return [
            path("figures/<slug:by>.csv", view, name=EXPORT),
            path("<int:pk>/prompt/", self.admin_site.admin_view(prompt), name="conversations_completion_prompt"),
            path(
                "<int:pk>/prompt/json/",
                self.admin_site.admin_view(prompt_json),
                name="conversations_completion_prompt_json",
            ),
            *super().get_urls(),
        ]

    @display(description=_("purpose"), ordering="purpose")
    def what_for(self, completion: Completion) -> str:
        """Return its purpose, and the number of its step but for the first: most replies have no other."""
        purpose = completion.get_purpose_display()
        if completion.step == 1:
            return purpose
        return gettext("%(purpose)s, step %(step)s") % {"purpose": purpose, "step": figures.count(completion.step)}

    @display(description=_("input (cached)"), ordering="input_tokens")
    def input(self, completion: Completion) -> str:
        if completion.input_tokens is None:
            return f"≈ {figures.count(completion.estimated_input_tokens)}"
        estimated = "≈ " if completion.usage_estimated else ""
        cached = completion.cached_input_tokens
        in_brackets = "" if cached is None else f" ({figures.count(cached)})"
        return estimated + figures.count(completion.input_tokens) + in_brackets

    @display(description=_("cost"), ordering=BY_COST)
    def cost(self, completion: Completion) -> str:
        return figures.cost(completion.cost_usd, int(completion.ended_at is not None and completion.cost_usd is None))

    @display(description=_("outcome"), label=STATE_COLOURS)
    def outcome(self, completion: Completion) -> tuple[str, str]:
        if completion.error_code:
            return "failed", completion.error_code
        ended = STOPPED if completion.finish_reason == STOPPED else "succeeded"
        outcome = ended if completion.ended_at else "unfinished"
        return outcome, str(STATE_LABELS[outcome])

    @display(description=_("duration"), ordering="duration_seconds")
    def duration(self, completion: Completion) -> str:
        return figures.seconds(completion.duration_seconds)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Completion, **kwargs: Any
    ) -> HttpResponse:
        shown = {"window": ShownWindow(obj), "outcome": self.outcome(obj)[1]}
        response: HttpResponse = super().render_change_form(request, context | shown, *args, obj=obj, **kwargs)
        return response


def _is_list(request: HttpRequest) -> bool:
    match = request.resolver_match
    return match is not None and (match.url_name or "").endswith("_changelist")
