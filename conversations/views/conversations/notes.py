"""The dialog with the owner's notes on a conversation, sent with each question in it."""

from __future__ import annotations

import uuid

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods
from django_htmx.http import trigger_client_event

from conversations.access import find_conversation
from conversations.core.errors import InputError
from conversations.services.conversations.notes import MOST_CHARACTERS, MOST_TOKENS, save_notes
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest
from conversations.wording.error_sentences import error_sentence, request_reader


@require_http_methods(["GET", "POST"])
@answers_errors()
def notes(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Ask for the notes: in a dialog that leaves the page as it is, or on a page that leads to the conversation.

    What can't be saved is shown again as it was typed.
    """
    conversation = find_conversation(request.user, public_id)
    text, error = conversation.notes, ""
    kept_out = conversation.kept_out_of_recall
    if request.method == "POST":
        text = request.POST.get("notes", "")
        if asks_recall := "asks_recall" in request.POST:  # else the form was shown without the question
            kept_out = "kept_out_of_recall" in request.POST
        try:
            save_notes(conversation, text, kept_out_of_recall=kept_out if asks_recall else None)
        except InputError as refusal:
            error = error_sentence(refusal, request_reader(request))
        else:
            return _saved(request, public_id)
    context = {"conversation": conversation, "text": text, "error": error}
    context |= {"kept_out": kept_out, "asks_recall": conversation.recalls_other_conversations or kept_out}
    context |= {"most_characters": MOST_CHARACTERS, "most_tokens": MOST_TOKENS}
    return render(request, "conversations/_notes.html" if request.htmx else "conversations/notes.html", context)


def _saved(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Tell the page, which closes the dialog and counts again what it would send."""
    if not request.htmx:
        return redirect("conversations:conversation", public_id)
    saved = {"conversation": str(public_id)}
    return trigger_client_event(HttpResponse(status=204), "notesSaved", saved)
