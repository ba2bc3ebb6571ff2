"""API keys: who has made which, what it may do, and when it was used last; never its text. Admins may revoke them."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from conversations.admin.row_action import RevocableAdmin
from conversations.models import ApiKey
from conversations.services.api.api_keys import revoke_key


@admin.register(ApiKey)
class ApiKeyAdmin(RevocableAdmin):
    action_label = _("Revoke this key")
    action_done = _("The key is revoked.")
    list_display = ["created_at", "owner", "may", "scenario", "last_used_at", "ends_at", "revoked_at"]
    list_select_related = ["owner", "scenario"]

    @display(description=_("scopes"))
    def may(self, key: ApiKey) -> str:
        return ", ".join(key.scope_labels)

    def act(self, request: HttpRequest, row: ApiKey) -> bool:
        revoke_key(row)
        return True
