"""The view of a message's Markdown source, for the button that copies it."""

from __future__ import annotations

import uuid

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from conversations.access import find_conversation, find_version
from conversations.models.message import MessageRole
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest
from conversations.views.http.inert_policy import INERT


@require_GET
@answers_errors()
def message_markdown(request: HtmxRequest, public_id: uuid.UUID, message_id: int) -> HttpResponse:
    """What a person wrote, or the language model in all steps of a reply, as it was written; never what it thought."""
    message = find_version(find_conversation(request.user, public_id), message_id)
    steps = message.steps.filter(role=MessageRole.ASSISTANT).order_by("position").values_list("content", flat=True)
    texts = [text for text in (*steps, message.content) if text.strip()]
    response = HttpResponse("\n\n".join(texts), content_type="text/plain; charset=utf-8")
    response["Content-Security-Policy"] = INERT
    return response
