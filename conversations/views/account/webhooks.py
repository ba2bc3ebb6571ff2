"""The view of an API key's webhook: its address, its newest events, and the form that sets, tests and removes it."""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from chatsite.accounts.account.reauthentication import require_reauthentication
from chatsite.accounts.models import SecurityEventKind
from chatsite.accounts.security.security_log import record_request_event
from conversations.core.errors import ApiKeyNotFound, ApiOff
from conversations.forms.webhook_form import WebhookForm
from conversations.models import ApiKey, Webhook
from conversations.services.api.api_keys import find_key
from conversations.services.webhooks.webhooks import (
    find_webhook,
    list_deliveries,
    remove_webhook,
    send_test,
    set_webhook,
)
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest
from conversations.wording.webhook_deliveries import delivery_error, delivery_state


@require_http_methods(["GET", "POST"])
@answers_errors()
@require_reauthentication
def webhook(request: HtmxRequest, key_id: uuid.UUID) -> HttpResponse:
    """Show the webhook of a key, or change it: the button that was pressed says what is done."""
    if not settings.API:
        raise ApiOff
    key = find_key(request.user, key_id)
    if not key.is_open:
        raise ApiKeyNotFound
    stored = find_webhook(key)
    if request.method == "GET":
        return _page(request, key, stored, WebhookForm(initial={"url": stored.url} if stored else None))
    if stored is not None and (done := _change(request, key, stored)):
        return done
    renews = stored is not None and request.POST.get("action") == "secret"
    # A stored address is asked again: which hosts may be inside is a setting, that may have changed.
    form = WebhookForm({"url": stored.url} if stored and renews else request.POST)
    if not form.is_valid():
        return _page(request, key, stored, form, status=400)
    return _set(request, key, form.cleaned_data["url"], new_secret=renews)


def _change(request: HtmxRequest, key: ApiKey, stored: Webhook) -> HttpResponse | None:
    """Do what a button says that needs no address; None for those that do."""
    match request.POST.get("action"):
        case "test":
            if send_test(stored):
                messages.success(
                    request, _("A test event is on its way. Load the newest events again to see what became of it.")
                )
            else:
                messages.info(request, _("A test event is waiting to be sent already."))
        case "remove":
            remove_webhook(key)
            record_request_event(SecurityEventKind.WEBHOOK_SET, request, about=f"key {key.pk}")
            messages.success(request, _("The webhook is removed: nothing more is sent."))
        case _:
            return None
    return redirect("conversations:api_key_webhook", key_id=key.public_id)


def _set(request: HtmxRequest, key: ApiKey, url: str, *, new_secret: bool = False) -> HttpResponse:
    """Store the address; a new secret is shown on the page that answers, the only time that it can be read."""
    made = set_webhook(key, url, new_secret=new_secret)
    record_request_event(SecurityEventKind.WEBHOOK_SET, request, about=f"key {key.pk}")
    if made.secret is None:
        messages.success(request, _("The address is stored."))
        return redirect("conversations:api_key_webhook", key_id=key.public_id)
    return _page(request, key, made.webhook, WebhookForm(initial={"url": url}), secret=made.secret)


def _page(
    request: HtmxRequest, key: ApiKey, stored: Webhook | None, form: WebhookForm, *, status: int = 200, secret: str = ""
) -> HttpResponse:
    events: list[dict[str, Any]] = [
        {"delivery": each, "state": delivery_state(each), "error": delivery_error(each)}
        for each in (list_deliveries(stored) if stored else [])
    ]
    context = {"key": key, "webhook": stored, "form": form, "secret": secret, "events": events}
    return render(request, "account/webhook.html", context, status=status)
