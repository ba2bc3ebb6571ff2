"""Views that pin, exclude and forget messages, or keep them from being recalled: by a form, or by the page's script.

The other pages are updated by a frame.
"""

from __future__ import annotations

import uuid

from django.http import HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST

from conversations.access import find_conversation
from conversations.models import Conversation, Message
from conversations.services.messages.forget_messages import forget_above, remember_everything
from conversations.services.messages.mark_message import exclude_message, pin_message, recall_message
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors, wants_json
from conversations.views.http.htmx_request import HtmxRequest


@require_POST
@answers_errors()
def pin(request: HtmxRequest, public_id: uuid.UUID, message_id: int) -> HttpResponse:
    """Pin a message, or take its pin away."""
    conversation = find_conversation(request.user, public_id)
    pinned = parameters.flag(request, "pinned")
    return _marked(request, public_id, pin_message(conversation=conversation, message_id=message_id, pinned=pinned))


@require_POST
@answers_errors()
def exclude(request: HtmxRequest, public_id: uuid.UUID, message_id: int) -> HttpResponse:
    """Exclude a message, or include it again."""
    conversation = find_conversation(request.user, public_id)
    excluded = parameters.flag(request, "excluded")
    marked = exclude_message(conversation=conversation, message_id=message_id, excluded=excluded)
    return _marked(request, public_id, marked)


@require_POST
@answers_errors()
def recall(request: HtmxRequest, public_id: uuid.UUID, message_id: int) -> HttpResponse:
    """Never recall a message, or let it be recalled again. The window's panel gets its button back."""
    conversation = find_conversation(request.user, public_id)
    never_recalled = parameters.flag(request, "never_recalled")
    marked = recall_message(conversation=conversation, message_id=message_id, never_recalled=never_recalled)
    if request.htmx:
        context = {"public_id": public_id, "message_id": marked.pk, "never_recalled": marked.never_recalled}
        return render(request, "conversations/_never_recalled.html", context)
    return _marked(request, public_id, marked)


@require_POST
@answers_errors()
def forget(request: HtmxRequest, public_id: uuid.UUID, message_id: int) -> HttpResponse:
    """Forget everything above a message."""
    conversation = find_conversation(request.user, public_id)
    first = forget_above(conversation=conversation, message_id=message_id)
    return _forgotten(request, conversation, f"#message-{first.pk}")


@require_POST
@answers_errors()
def remember(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Remember again what was forgotten of a conversation."""
    conversation = find_conversation(request.user, public_id)
    remember_everything(conversation=conversation)
    return _forgotten(request, conversation)


def _forgotten(request: HtmxRequest, conversation: Conversation, place: str = "") -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"forgotten_before": conversation.forgotten_before})
    page = reverse("conversations:conversation", args=[conversation.public_id])
    return HttpResponseRedirect(f"{page}{place}")


def _marked(request: HtmxRequest, public_id: uuid.UUID, message: Message) -> HttpResponse:
    if wants_json(request):
        decisions = {"pinned": message.pinned, "excluded": message.excluded, "never_recalled": message.never_recalled}
        return JsonResponse({"message": message.pk, **decisions})
    page = reverse("conversations:conversation", args=[public_id])
    return HttpResponseRedirect(f"{page}#message-{message.pk}")
