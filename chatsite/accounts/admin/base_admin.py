"""Base classes of admin pages: edit conflicts, forms with a single save button, models of one row, colours
of states.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db import IntegrityError
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from unfold.admin import ModelAdmin

ONLY_SAVE = {"show_save_and_continue": False, "show_save_and_add_another": False}


class EditConflictAdmin(ModelAdmin):
    """Reports a conflict where two admins save at once and the database refuses the second."""

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response: HttpResponse = super().changeform_view(request, *args, **kwargs)
        except IntegrityError:
            self.message_user(
                request, _("Another admin saved this at the same time. Your changes were not saved."), messages.ERROR
            )
            return redirect(request.get_full_path())
        return response


class SingleSaveButtonAdmin(ModelAdmin):
    """A form with one way to save it, for pages without a list to go on with."""

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


class OneRowAdmin(SingleSaveButtonAdmin, EditConflictAdmin):
    """One form, without a list, for a model of at most one row."""

    show_add_link = False

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Name the page once in the path above it: a row, which Unfold would name too, is all that there is."""
        context = {**(extra_context or {}), "original": ""}
        response: HttpResponse = super().changeform_view(request, object_id, form_url, context)
        return response

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if not self.has_view_or_change_permission(request):
            refusal: HttpResponse = super().changelist_view(request, extra_context)
            return refusal
        return redirect(self._page("change"), True) if self._is_stored() else redirect(self._page("add"))

    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Change the row instead of adding a second one. (The permission can't say so: every page asks for it.)"""
        if self.has_add_permission(request) and self._is_stored():
            return redirect(self._page("change"), True)
        response: HttpResponse = super().add_view(request, *args, **kwargs)
        return response

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def _is_stored(self) -> bool:
        return bool(self.model._default_manager.exists())

    def _page(self, verb: str) -> str:
        return f"admin:{self.opts.app_label}_{self.opts.model_name}_{verb}"


class StateColours(dict[str, str]):
    """Unfold's `display(label=…)` for states with their labels, `(state, label)`: a state that is not here stays grey.

    For a state that a plain dictionary lacks, Unfold would show the state itself and not its label.
    """

    def __missing__(self, state: str) -> str:
        return ""
