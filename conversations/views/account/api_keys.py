"""Views of a user's own API keys: the list, the form that makes one, the page that shows it once, and its end."""

from __future__ import annotations

import json
import uuid
from shlex import quote

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chatsite.accounts.account.reauthentication import require_reauthentication
from chatsite.accounts.models import SecurityEventKind
from chatsite.accounts.security.security_log import record_request_event
from conversations.core.errors import ApiOff
from conversations.forms.api_key_form import ApiKeyForm
from conversations.models import ApiScope, WebhookDelivery
from conversations.selectors.figures.spending import NOTHING, spent_by_keys
from conversations.services.api.api_keys import MadeKey, find_key, list_keys, make_key, revoke_key
from conversations.services.api.key_access import models_of_key
from conversations.services.webhooks.webhooks import newest_deliveries
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest
from conversations.wording.webhook_deliveries import delivery_error, delivery_state


@require_GET
@answers_errors()
def api_keys(request: HtmxRequest) -> HttpResponse:
    """All keys of the user, the newest first, those that are over among them; none can be read."""
    listed = list_keys(request.user)
    spent = spent_by_keys(listed, "month", at=timezone.now())
    newest = newest_deliveries(listed)
    keys = [
        {"key": key, "spent_usd": spent.get(key.pk, NOTHING)[0], "newest_event": _told_of(newest.get(key.pk))}
        for key in listed
    ]
    return render(request, "account/api_keys.html", {"keys": keys, "is_on": settings.API, "address": api_address()})


@require_http_methods(["GET", "POST"])
@answers_errors()
@require_reauthentication
def new(request: HtmxRequest) -> HttpResponse:
    """Ask for a key's name and bounds; then show its text, the only time that it can be read."""
    if not settings.API:
        raise ApiOff
    form = ApiKeyForm(request.POST or None, user=request.user)
    if request.method == "POST" and form.is_valid():
        made = make_key(request.user, name=form.cleaned_data["name"], bounds=form.bounds())
        record_request_event(SecurityEventKind.KEY_MADE, request, about=f"key {made.key.pk}")
        return _made(request, made)
    status = 400 if form.errors else 200
    return render(request, "account/new_api_key.html", {"form": form}, status=status)


@require_POST
@answers_errors()
def revoke(request: HtmxRequest, key_id: uuid.UUID) -> HttpResponse:
    """End a key at once, with what runs for it."""
    key = find_key(request.user, key_id)
    revoke_key(key)
    record_request_event(SecurityEventKind.KEY_REVOKED, request, about=f"key {key.pk}")
    messages.success(request, _("The key is revoked: it opens nothing any more."))
    return redirect("conversations:api_keys")


def _made(request: HtmxRequest, made: MadeKey) -> HttpResponse:
    """Show the key's text, and how to ask with it: for an answer if it may, else for the names of its models."""
    models = models_of_key(made.key) if ApiScope.CHAT in made.key.scopes else []
    language_model = models[0].name if models else ""
    context = {
        "key": made.key,
        "text": made.text,
        "address": api_address(),
        "language_model": language_model,
        "example": _example(made.text, language_model),
    }
    return render(request, "account/api_key_made.html", context)


def _example(text: str, language_model: str) -> str:
    """Return a command that asks with the key, for a shell."""
    authorization = f'-H "Authorization: Bearer {text}"'
    if not language_model:
        return f"curl {api_address()}/models {authorization}"
    body = {"model": language_model, "messages": [{"role": "user", "content": "Hello"}]}
    lines = (
        f"curl {api_address()}/chat/completions",
        authorization,
        '-H "Content-Type: application/json"',
        f"-d {quote(json.dumps(body, ensure_ascii=False))}",
    )
    return " \\\n  ".join(lines)


def _told_of(delivery: WebhookDelivery | None) -> str:
    """Return what became of the newest event that the key's webhook was told of."""
    return " · ".join(filter(None, (delivery_state(delivery), delivery_error(delivery)))) if delivery else ""


def api_address() -> str:
    """Return the base URL that a client of OpenAI's is given."""
    return f"{settings.SITE_URL}/v1"
