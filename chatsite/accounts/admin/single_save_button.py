"""Forms that are saved or left."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from unfold.admin import ModelAdmin

ONLY_SAVE = {"show_save_and_continue": False, "show_save_and_add_another": False}


class OneButton(ModelAdmin):
    """A form with one way to save it: there is nothing to go on with."""

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        context = {**(extra_context or {}), **ONLY_SAVE}
        response: HttpResponse = super().changeform_view(request, object_id, form_url, context)
        return response
