"""Views that choose the language model of a conversation, and regenerate a reply with another one."""

from __future__ import annotations

import uuid

from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from conversations.access import find_conversation, find_reply
from conversations.selectors.conversations.versions import model_of_version
from conversations.services.conversations.language_model import choose_language_model
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors, wants_json
from conversations.views.http.htmx_request import HtmxRequest

from .model_menu import model_rows
from .page_context import scenario_context


@require_http_methods(["GET", "HEAD", "POST"])
@answers_errors()
def choose_model(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Go on with another language model or effort; to a script that asks, what the header says of it now."""
    conversation = find_conversation(request.user, public_id)
    if request.method == "POST":
        choose_language_model(
            conversation,
            user=request.user,
            language_model=parameters.name(request, "language_model"),
            effort=parameters.name(request, "effort"),
        )
        if wants_json(request):
            return JsonResponse({})
    elif request.htmx:
        context = {"conversation": conversation, **scenario_context(request, conversation)}
        return render(request, "conversations/_model.html", context)
    return redirect("conversations:conversation", public_id)


@require_safe
@answers_errors()
def regenerate_with(request: HtmxRequest, public_id: uuid.UUID, reply_id: int) -> HttpResponse:
    """Ask by which language model a reply is to be regenerated: in a dialog, or on a page of its own."""
    conversation = find_conversation(request.user, public_id)
    reply = find_reply(conversation, reply_id)
    rows, made_by = model_rows(conversation, request.user), model_of_version(reply)
    names = [row.configured.name for row in rows]
    context = {
        "conversation": conversation,
        "reply": reply,
        "rows": rows,
        "made_by": made_by,
        "focused": next((name for name in names if name != made_by), made_by),
    }
    template = "conversations/_regenerate_with.html" if request.htmx else "conversations/regenerate_with.html"
    return render(request, template, context)
