"""The view of a reply's Markdown source, for the button that copies it."""

from __future__ import annotations

import uuid

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from conversations.access import find_conversation, find_reply
from conversations.models.message import MessageRole
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest
from conversations.views.http.inert_policy import INERT


@require_GET
@answers_errors()
def reply_markdown(request: HtmxRequest, public_id: uuid.UUID, reply_id: int) -> HttpResponse:
    """What the language model wrote in all steps of a reply, as it wrote it; never what it thought."""
    reply = find_reply(find_conversation(request.user, public_id), reply_id)
    steps = reply.steps.filter(role=MessageRole.ASSISTANT).order_by("position").values_list("content", flat=True)
    texts = [text for text in (*steps, reply.content) if text.strip()]
    response = HttpResponse("\n\n".join(texts), content_type="text/plain; charset=utf-8")
    response["Content-Security-Policy"] = INERT
    return response
