"""The request of a completion exactly as it was sent, as a page and as JSON. Shown within a reading."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from conversations.admin.ledger.window_record import KINDS, role_label
from conversations.admin.review.content_access import within_reading
from conversations.core.window.window_record import WindowRecord
from conversations.models import Completion, Reading, ReadWhat
from conversations.selectors.conversations.sent_request import SentRequest, sent_request
from conversations.services.review.readings import log_step


@dataclass(frozen=True, slots=True)
class SentMessage:
    """One message as it was sent, and what it was in the window; *number* counts from 1."""

    number: int
    role: str
    kind: str
    tokens: int | None
    content: str
    tool_calls: str

    @property
    def said_by(self) -> str:
        return role_label(self.role)


@require_GET
def prompt(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The messages one below the other, and the JSON folded away."""
    completion = _find(request, pk)

    def page(reading: Reading | None) -> HttpResponse:
        sent = _sent(completion, reading)
        context = {
            **admin.site.each_context(request),
            "opts": Completion._meta,
            "title": _("Request %(id)s, as it was sent") % {"id": completion.pk},
            "completion": completion,
            "is_exact": sent.is_exact,
            "sent_messages": sent_messages(completion, sent),
            "json": _as_json(sent),
        }
        return render(request, "admin/conversations/completion/prompt.html", context)

    return within_reading(request, completion.conversation, page)


@require_GET
def prompt_json(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The body of the request, as a file."""
    completion = _find(request, pk)

    def file(reading: Reading | None) -> HttpResponse:
        response = HttpResponse(_as_json(_sent(completion, reading)), content_type="application/json")
        response["Content-Disposition"] = f'attachment; filename="request-{completion.pk}.json"'
        response["Cache-Control"] = "no-store"
        response["X-Content-Type-Options"] = "nosniff"
        return response

    return within_reading(request, completion.conversation, file)


def sent_messages(completion: Completion, sent: SentRequest) -> list[SentMessage]:
    """Return the messages of the request beside what each was in the window."""
    entries = WindowRecord.from_json(completion.window or {}).message_entries  # without a window nothing is *sent*
    beside = entries if len(entries) == len(sent.prompt) else [None] * len(sent.prompt)  # one is stored no more
    return [
        SentMessage(
            number=number,
            role=message.role,
            kind=str(KINDS[entry.kind]) if entry else "",
            tokens=entry.tokens if entry else None,
            content=message.content,
            tool_calls=_written([call.to_json() for call in message.tool_calls]) if message.tool_calls else "",
        )
        for number, (message, entry) in enumerate(zip(sent.prompt, beside, strict=True), start=1)
    ]


def _find(request: HttpRequest, pk: int) -> Completion:
    if not request.user.has_perm("conversations.view_completion"):
        raise PermissionDenied
    return get_object_or_404(Completion.objects.select_related("conversation", "system_prompt"), pk=pk)


def _sent(completion: Completion, reading: Reading | None) -> SentRequest:
    """Return what was sent, and put on record that it is shown. A request without a window is not found."""
    try:
        sent = sent_request(completion)
    except (KeyError, TypeError) as error:
        raise Http404 from error
    log_step(reading, ReadWhat.PROMPT, str(completion.pk))
    return sent


def _as_json(sent: SentRequest) -> str:
    return _written(dict(sent.body))


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
