"""Calibrations: how far our token counts are from each language model's, and the ratio learned from that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from unfold.decorators import display

from conversations.admin.base_admin import ReadOnlyAdmin
from conversations.admin.chart_js import WHOLE, bar_chart_json
from conversations.core.window.calibration import (
    ERROR_EDGES_PERCENT,
    FEWEST_PAIRS,
    LOOKED_AT,
    NEWEST_PAIRS,
    error_distribution,
    limit_to_try,
)
from conversations.models import Calibration
from conversations.providers.catalog.language_models import language_models
from conversations.selectors.figures.estimate_errors import newest_estimate_errors
from conversations.services.language_models.calibration import ReportedPrompt, forget_limit, reported_prompts
from conversations.templatetags import figures

ROWS = 50
FORGET_LIMIT = "conversations_calibration_forget_limit"


@dataclass(frozen=True)
class ShownCalibration:
    """The figures of *calibration* as the admin shows them."""

    calibration: Calibration
    fewest_pairs: int = FEWEST_PAIRS
    newest_pairs: int = NEWEST_PAIRS

    @cached_property
    def configured_tokens(self) -> int | None:
        """The configured context window; None where the language model is no longer configured."""
        configured = language_models().get(self.calibration.language_model)
        return configured.language_model.context_window_tokens if configured else None

    @property
    def limit_tokens(self) -> int | None:
        """The limit that windows have: the one that was named, or the one that is tried while it is looked for."""
        return limit_to_try(self.calibration.limit_tokens, self.calibration.refused_tokens)

    @property
    def limit_holds(self) -> bool:
        """Whether the provider's limit is below the configured context window."""
        return self.limit_tokens is not None and self.limit_tokens < (self.configured_tokens or 0)

    @cached_property
    def prompts(self) -> list[ReportedPrompt]:
        return reported_prompts(self.calibration.language_model)

    @property
    def newest(self) -> list[tuple[ReportedPrompt, bool]]:
        """The newest pairs, and whether the ratio is learned from each."""
        return [(prompt, self._teaches(prompt)) for prompt in self.prompts[:ROWS]]

    @cached_property
    def errors(self) -> list[tuple[str, int, int]]:
        """How many long prompts, and how many others, have an error of each size."""
        long = [prompt.pair for prompt in self.prompts if self._teaches(prompt)]
        others = [prompt.pair for prompt in self.prompts if not self._teaches(prompt)]
        return list(zip(error_labels(), error_distribution(long), error_distribution(others), strict=True))

    @property
    def chart(self) -> dict[str, str]:
        labels, long, others = zip(*self.errors, strict=True)
        series = {gettext("Long prompts"): ("cost", long), gettext("Short prompts, or with tools"): ("cached", others)}
        return bar_chart_json(labels, series, number_format=WHOLE, most_labels=len(labels))

    def _teaches(self, prompt: ReportedPrompt) -> bool:
        tokens = (self.calibration.limit_tokens, self.configured_tokens)
        return prompt.teaches(context_window_tokens=min(filter(None, tokens), default=0))


def error_labels(edges: Iterable[int] = ERROR_EDGES_PERCENT) -> list[str]:
    """Name the errors below the first edge, from each edge to the next, and above the last."""
    written = [f"{edge:+d}".replace("-", "−") for edge in edges]
    between = [f"{low} … {high} %" for low, high in pairwise(written)]
    return [f"< {written[0]} %", *between, f"≥ {written[-1]} %"]


@admin.register(Calibration)
class CalibrationAdmin(ReadOnlyAdmin):
    list_display = ["language_model", "shown_ratio", "pairs", "limit", "updated_at"]
    search_fields = ["language_model"]
    search_help_text = _("Language model")
    list_before_template = "admin/conversations/calibration/_errors.html"

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        context = {"errors": newest_estimate_errors(), "looked_at": LOOKED_AT}
        response: HttpResponse = super().changelist_view(request, context | (extra_context or {}))
        return response

    @display(description=_("ratio"), ordering="ratio")
    def shown_ratio(self, calibration: Calibration) -> str:
        return figures.ratio(calibration.ratio)

    @display(description=_("provider’s limit"), ordering="limit_tokens")
    def limit(self, calibration: Calibration) -> str:
        shown = ShownCalibration(calibration)
        limit = figures.count(shown.limit_tokens)
        if not shown.limit_holds:
            return limit
        words = {"limit": limit, "configured": figures.count(shown.configured_tokens)}
        return gettext("%(limit)s instead of %(configured)s") % words

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Calibration, **kwargs: Any
    ) -> HttpResponse:
        context |= {"shown": ShownCalibration(obj), "may_forget": may_forget(request)}
        response: HttpResponse = super().render_change_form(request, context, *args, obj=obj, **kwargs)
        return response

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.forget_limit))
        return [path("<int:pk>/forget-limit/", view, name=FORGET_LIMIT), *super().get_urls()]

    def forget_limit(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Let the configured context window hold again: the one thing here that an admin may change."""
        if not may_forget(request):
            raise PermissionDenied
        calibration = self.get_object(request, str(pk))
        if calibration is None:
            raise Http404
        if forget_limit(calibration):
            tokens = ShownCalibration(calibration).limit_tokens or calibration.refused_tokens or 0
            self.log_change(request, calibration, f"Forgot the provider's limit of {tokens:,} tokens.")
            forgot = gettext("The provider’s limit of %(tokens)s tokens has been forgotten.")
            messages.success(request, forgot % {"tokens": figures.count(tokens)})
        return redirect(reverse("admin:conversations_calibration_change", args=[pk]))


def may_forget(request: HttpRequest) -> bool:
    return request.user.has_perm("conversations.change_calibration")
