"""Views of a conversation's summary: keep one or none, edit it, undo that. By a form, or from the window's panel."""

from __future__ import annotations

import uuid

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from conversations.access import find_conversation
from conversations.models import Conversation
from conversations.services.summaries.change_summary import edit_summary, summarise_conversation, undo_summary
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest
from conversations.wording.error_sentences import request_reader

from .summary_context import summary_view


@require_POST
@answers_errors()
def switch(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Keep a summary of what is out of view, or none."""
    conversation = find_conversation(request.user, public_id)
    summarise_conversation(conversation, summarises=parameters.flag(request, "summarises"))
    is_in_thread = "in_thread" in request.POST
    return _changed(request, conversation, "_horizon_summary.html" if is_in_thread else "_summary.html")


@require_POST
@answers_errors()
def edit(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Replace the version that was seen by the owner's own words."""
    conversation = find_conversation(request.user, public_id)
    edit_summary(conversation, version=parameters.version(request), text=parameters.content(request))
    return _changed(request, conversation)


@require_POST
@answers_errors()
def undo(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Go back to the version before the one that was seen."""
    conversation = find_conversation(request.user, public_id)
    undo_summary(conversation, version=parameters.version(request))
    return _changed(request, conversation)


def _changed(request: HtmxRequest, conversation: Conversation, template: str = "_summary.html") -> HttpResponse:
    """Render the part of the page again, or lead back to the conversation."""
    if not request.htmx:
        return redirect("conversations:conversation", conversation.public_id)
    kept = summary_view(conversation, request_reader(request))
    return render(request, f"conversations/{template}", {"public_id": conversation.public_id, "kept_summary": kept})
