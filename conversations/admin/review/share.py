"""Shares: who has shared which conversation, when, and what of it; without a word of it. Admins may revoke them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from conversations.admin.row_action import RevocableAdmin
from conversations.models import Share
from conversations.services.portability.shares import revoke_share

SHOWS = ("shows_windows", "shows_system_prompt", "shows_documents", "shows_pictures", "shows_tools", "shows_reasoning")


@admin.register(Share)
class ShareAdmin(RevocableAdmin):
    action_label = _("Revoke this share")
    action_done = _("The share is revoked.")
    list_display = ["created_at", "owner", "conversation", "shown", "message_count", "opened", "ends_at", "revoked_at"]
    list_select_related = ["conversation", "owner"]

    @display(description=_("also shown"))
    def shown(self, share: Share) -> str:
        return also_shown(share)

    def act(self, request: HttpRequest, row: Share) -> bool:
        revoke_share(row)
        return True

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Share | None = None, **kwargs: Any
    ) -> HttpResponse:
        if obj:
            context |= {"shown": also_shown(obj)}
        return super().render_change_form(request, context, *args, obj=obj, **kwargs)


def also_shown(share: Share) -> str:
    """Return what was chosen beside the words of the messages."""
    chosen = [
        str(field.verbose_name)
        for field in Share._meta.concrete_fields
        if field.name in SHOWS and getattr(share, field.name)
    ]
    return ", ".join(chosen) or "–"
