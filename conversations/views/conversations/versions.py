"""Views that edit a message and switch between versions: by forms, or by the page's script."""

from __future__ import annotations

import uuid

from django.http import HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from conversations.access import find_conversation
from conversations.core.errors import ConversationError
from conversations.selectors.conversations.pictures import shown_pictures
from conversations.services.messages.edit_message import edit_message, find_editable
from conversations.services.messages.switch_version import switch_version
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors, show_refusal, wants_json
from conversations.views.http.htmx_request import HtmxRequest
from conversations.views.http.stopping import after_stop
from conversations.wording.error_sentences import error_sentence, request_reader

from .messages import acknowledgement


def show_form_with_draft(
    request: HtmxRequest, error: ConversationError, public_id: uuid.UUID, message_id: int
) -> HttpResponse:
    """The form again, with what was typed and the reason why it was not sent."""
    if request.method != "POST":
        return show_refusal(request, error, public_id=public_id)
    return _form(
        request,
        public_id=public_id,
        message_id=message_id,
        client_id=request.POST.get("client_id"),
        content=parameters.content(request),
        pictures=shown_pictures([message_id]).get(message_id, ()),
        error=error_sentence(error, request_reader(request)),
    )


@after_stop
@require_http_methods(["GET", "HEAD", "POST"])
@answers_errors(refuse=show_form_with_draft)
def edit(request: HtmxRequest, public_id: uuid.UUID, message_id: int) -> HttpResponse:
    """Send a message in other words; before that, show its words, to a script as JSON."""
    conversation = find_conversation(request.user, public_id)
    if request.method != "POST":
        content = find_editable(conversation, message_id).content
        if wants_json(request):
            return JsonResponse({"content": content})
        pictures = shown_pictures([message_id]).get(message_id, ())
        form = {"public_id": public_id, "message_id": message_id, "client_id": uuid.uuid4()}
        return _form(request, **form, content=content, pictures=pictures)
    posted = edit_message(
        user=request.user,
        conversation=conversation,
        message_id=message_id,
        content=parameters.content(request),
        client_id=parameters.unique_id(request.POST.get("client_id"), "client_id"),
        pictures=parameters.chosen_picture_ids(request),
    )
    if wants_json(request):
        return acknowledgement(posted)
    return redirect("conversations:conversation", public_id)


@require_POST
@answers_errors()
def show(request: HtmxRequest, public_id: uuid.UUID, message_id: int) -> HttpResponse:
    """Show another version of a message, and what was said after that one."""
    conversation = find_conversation(request.user, public_id)
    shown = switch_version(conversation=conversation, message_id=message_id)
    if wants_json(request):
        return JsonResponse({"message": shown.pk, "position": shown.position})
    page = reverse("conversations:conversation", args=[public_id])
    return HttpResponseRedirect(f"{page}#message-{shown.pk}")


def _form(request: HtmxRequest, **context: object) -> HttpResponse:
    return render(request, "conversations/edit.html", context)
