"""API keys: who has made which, what it may do, and when it was used last; never its text. Admins may revoke them."""

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
from conversations.models import ApiKey
from conversations.services.api.api_keys import revoke_key

REVOKE = "conversations_apikey_revoke"


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "owner", "may", "scenario", "last_used_at", "ends_at", "revoked_at"]
    list_filter = ["created_at", ("revoked_at", admin.EmptyFieldListFilter)]
    linked_lookups = ("owner",)
    search_fields = ["owner__email"]
    search_help_text = _("Email address of the owner")
    list_select_related = ["owner", "scenario"]

    @display(description=_("scopes"))
    def may(self, key: ApiKey) -> str:
        return ", ".join(key.scope_labels)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: ApiKey, **kwargs: Any
    ) -> HttpResponse:
        is_open = obj.revoked_at is None and (obj.ends_at is None or obj.ends_at > timezone.now())
        context |= {"may_revoke": is_open and may_revoke_keys(request)}
        response: HttpResponse = super().render_change_form(request, context, *args, obj=obj, **kwargs)
        return response

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self.revoke))
        return [path("<int:pk>/revoke/", view, name=REVOKE), *super().get_urls()]

    def revoke(self, request: HttpRequest, pk: int) -> HttpResponse:
        """End a key at once: the one thing here that an admin may change."""
        if not may_revoke_keys(request):
            raise PermissionDenied
        key = self.get_object(request, str(pk))
        if key is None:
            raise Http404
        revoke_key(key)
        self.log_change(request, key, "Revoked.")
        messages.success(request, gettext("The key is revoked."))
        return redirect(reverse("admin:conversations_apikey_change", args=[pk]))


def may_revoke_keys(request: HttpRequest) -> bool:
    return request.user.has_perm("conversations.change_apikey")
