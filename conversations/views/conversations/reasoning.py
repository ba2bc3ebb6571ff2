"""The view of all that a reply, or a step of it, thought: the page shows the beginning."""

from __future__ import annotations

import uuid

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET

from conversations.access import find_conversation, find_message
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest
from conversations.views.http.inert_policy import INERT


@require_GET
@answers_errors()
def reasoning(request: HtmxRequest, public_id: uuid.UUID, message_id: int) -> HttpResponse:
    """The reasoning of a message: a text to be saved, whatever is in it; empty where nothing was thought."""
    message = find_message(find_conversation(request.user, public_id), message_id)
    response = HttpResponse(message.reasoning, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = content_disposition_header(
        as_attachment=True, filename=f"reasoning-{message.pk}.txt"
    )
    response["Content-Security-Policy"] = INERT
    return response
