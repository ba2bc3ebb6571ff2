"""Webhooks: whose they are, where they lead, and what became of their newest events. Admins may send a test event."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from conversations.admin.row_action import RowActionAdmin
from conversations.models import Webhook
from conversations.services.webhooks.webhooks import list_deliveries, send_test
from conversations.wording.webhook_deliveries import delivery_error, delivery_state


@admin.register(Webhook)
class WebhookAdmin(RowActionAdmin):
    action = "test"
    action_label = _("Send a test event")
    action_done = _("A test event is on its way.")
    action_record = "Tested."
    list_display = ["created_at", "whose", "host", "newest", "disabled_at"]
    list_filter = [("disabled_at", admin.EmptyFieldListFilter)]
    search_fields = ["api_key__owner__email"]
    search_help_text = _("Email address of the owner")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Webhook]:
        return super().get_queryset(request).select_related("api_key__owner")  # type: ignore[no-any-return]

    @display(description=_("owner"))
    def whose(self, webhook: Webhook) -> str:
        return webhook.api_key.owner.email if webhook.api_key else gettext("the site")

    @display(description=_("host"))
    def host(self, webhook: Webhook) -> str:
        return receiver_host(webhook)

    @display(description=_("newest event"))
    def newest(self, webhook: Webhook) -> str:
        newest = webhook.deliveries.order_by("-pk").first()
        return delivery_state(newest) if newest else "–"

    def can_act(self, row: Webhook) -> bool:
        return True

    def act(self, request: HttpRequest, row: Webhook) -> bool:
        return send_test(row)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Webhook | None = None, **kwargs: Any
    ) -> HttpResponse:
        if obj:
            events = [
                {"delivery": each, "state": delivery_state(each), "error": delivery_error(each)}
                for each in list_deliveries(obj)
            ]
            context |= {"events": events, "host": receiver_host(obj), "whose": self.whose(obj)}
        return super().render_change_form(request, context, *args, obj=obj, **kwargs)


def receiver_host(webhook: Webhook) -> str:
    """Return where it leads; the rest of the address may hold a secret of the receiver."""
    return urlsplit(webhook.url).hostname or "–"
