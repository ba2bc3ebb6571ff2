"""API keys: who has made which, what it may do, and when it was used last; never its text. Admins may revoke them."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from conversations.admin.row_action import RevocableAdmin
from conversations.models import ApiKey
from conversations.services.api.api_keys import read_public_part, revoke_key


@admin.register(ApiKey)
class ApiKeyAdmin(RevocableAdmin):
    action_label = _("Revoke this key")
    action_done = _("The key is revoked.")
    list_display = ["created_at", "owner", "may", "scenario", "last_used_at", "ends_at", "revoked_at"]
    list_select_related = ["owner", "scenario"]
    search_help_text = _("Owner’s email, or the public part of a key")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[ApiKey], search_term: str
    ) -> tuple[QuerySet[ApiKey], bool]:
        """Find a key of which only the text is known, such as one that has leaked."""
        if public_part := read_public_part(search_term):
            return queryset.filter(public_part=public_part), False
        found: tuple[QuerySet[ApiKey], bool] = super().get_search_results(request, queryset, search_term)
        return found

    @display(description=_("scopes"))
    def may(self, key: ApiKey) -> SafeString:
        return format_html_join(" ", "<code>{}</code>", ((scope,) for scope in key.scopes))

    def act(self, request: HttpRequest, row: ApiKey) -> bool:
        revoke_key(row)
        return True
