"""Account changes in the admin: read-only for every admin."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display

from chatsite.accounts.models import AccountChange


@admin.register(AccountChange)
class AccountChangeAdmin(ModelAdmin):
    list_display = ["at", "user", "kind", "shown_detail", "admin_email"]
    list_filter = ["at", "kind"]
    list_per_page = 50
    list_select_related = ["user"]
    search_fields = ["user__email", "admin_email", "detail"]
    search_help_text = _("Email address of the user, also an earlier one, or of the admin")
    fields = ["at", "user", "kind", "shown_detail", "admin_email"]
    empty_value_display = "–"
    actions = None

    @display(description=_("new role, or address before"))
    def shown_detail(self, change: AccountChange) -> str:
        return change.detail_label or "–"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: AccountChange | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: AccountChange | None = None) -> bool:
        return False
