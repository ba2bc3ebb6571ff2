"""Shares: who has shared which conversation, when, and what of it; without a word of it. Admins may revoke them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from unfold.decorators import display

from conversations.admin.base_admin import ReadOnlyAdmin
from conversations.models import Share
from conversations.services.portability.shares import revoke_share

REVOKE = "conversations_share_revoke"
SHOWS = ("shows_windows", "shows_system_prompt", "shows_documents", "shows_pictures", "shows_tools", "shows_reasoning")


@admin.register(Share)
class ShareAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "owner", "conversation", "shown", "message_count", "opened", "ends_at", "revoked_at"]
    list_filter = ["created_at", ("revoked_at", admin.EmptyFieldListFilter)]
    linked_lookups = ("owner",)
    search_fields = ["owner__email"]
    search_help_text = _("Email address of the owner")
    list_select_related = ["conversation", "owner"]

    @display(description=_("also shown"))
    def shown(self, share: Share) -> str:
        return also_shown(share)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Share, **kwargs: Any
    ) -> HttpResponse:
        is_open = obj.revoked_at is None and (obj.ends_at is None or obj.ends_at > timezone.now())
        context |= {"shown": also_shown(obj), "may_revoke": is_open and may_revoke(request)}
        response: HttpResponse = super().render_change_form(request, context, *args, obj=obj, **kwargs)
        return response

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.revoke))
        return [path("<int:pk>/revoke/", view, name=REVOKE), *super().get_urls()]

    def revoke(self, request: HttpRequest, pk: int) -> HttpResponse:
        """End a share at once: the one thing here that an admin may change."""
        if not may_revoke(request):
            raise PermissionDenied
        share = self.get_object(request, str(pk))
        if share is None:
            raise Http404
        revoke_share(share)
        self.log_change(request, share, "Revoked.")
        messages.success(request, gettext("The share is revoked."))
        return redirect(reverse("admin:conversations_share_change", args=[pk]))


def may_revoke(request: HttpRequest) -> bool:
    return request.user.has_perm("conversations.change_share")


def also_shown(share: Share) -> str:
    """Return what was chosen beside the words of the messages."""
    chosen = [
        str(field.verbose_name)
        for field in Share._meta.concrete_fields
        if field.name in SHOWS and getattr(share, field.name)
    ]
    return ", ".join(chosen) or "–"
