"""Security events in the admin: read-only, for admins."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin

from chatsite.accounts.models import SecurityEvent


@admin.register(SecurityEvent)
class SecurityEventAdmin(ModelAdmin):
    list_display = ["at", "kind", "user", "network", "about"]
    list_filter = ["kind", "at"]
    list_per_page = 100
    list_select_related = ["user"]
    search_fields = ["user__email", "network"]
    search_help_text = _("Email address of the user, or network")
    fields = ["at", "kind", "user", "network", "about"]
    empty_value_display = "–"
    actions = None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: SecurityEvent | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: SecurityEvent | None = None) -> bool:
        return False
