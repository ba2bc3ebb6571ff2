"""Forms that two admins may save at once."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from unfold.admin import ModelAdmin


class SavedByOne(ModelAdmin):
    """Tells whoever came second, where the database refuses what the form could not see yet."""

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response: HttpResponse = super().changeform_view(request, *args, **kwargs)
        except IntegrityError:
            self.message_user(
                request, _("Somebody else saved this at the same time. Nothing was changed."), messages.ERROR
            )
            return redirect(request.get_full_path())
        return response
