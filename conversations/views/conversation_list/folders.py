"""Views of folders: all of them, one with its conversations, and putting a conversation into one."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import reswap, retarget, trigger_client_event

from chatsite.names import isolate_name
from conversations.access import find_conversation
from conversations.core.errors import InputError
from conversations.models import Folder
from conversations.models.conversation import UNTITLED
from conversations.selectors.conversations.conversation_list import Place, list_conversations
from conversations.selectors.conversations.folders import find_folder
from conversations.selectors.conversations.list_pages import PageEnd
from conversations.selectors.conversations.scenarios import list_scenarios
from conversations.services.conversations.folders import (
    MOST_NAME_CHARACTERS,
    change_folder,
    create_folder,
    delete_folder,
    fold_folder,
)
from conversations.services.conversations.list_changes import move_conversations
from conversations.views.documents.document_list import documents_context
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest
from conversations.wording.error_sentences import error_sentence, request_reader

from .listed_conversations import CONVERSATIONS_PER_PAGE, folder_group, list_again


@require_http_methods(["GET", "POST"])
@answers_errors()
def folders(request: HtmxRequest) -> HttpResponse:
    """All folders, and a form for a new one, which shows again what was typed where it can't be created."""
    typed, error = "", ""
    if request.method == "POST":
        typed = request.POST.get("name", "")
        try:
            folder = create_folder(request.user, name=typed, scenario_id=parameters.scenario_id(request))
            return redirect("conversations:folder", folder.pk)
        except InputError as refusal:
            error = error_sentence(refusal, request_reader(request))
    there = Q(conversations__deleted_at=None)
    counts = {
        "held": Count("conversations", filter=there, distinct=True),
        "document_count": Count("documents", distinct=True),
    }
    context = {
        "folders": request.user.folders.annotate(**counts).select_related("scenario"),
        **_form_context(request, typed, error),
    }
    return render(request, "conversations/folders.html", context, status=400 if error else 200)


@require_http_methods(["GET", "POST"])
@answers_errors()
def folder(request: HtmxRequest, folder_id: int) -> HttpResponse:
    """A folder with its documents and all of its conversations; by POST it gets another name and scenario."""
    found, error = find_folder(request.user, folder_id), ""
    typed = found.name
    if request.method == "POST":
        typed = request.POST.get("name", "")
        try:
            change_folder(request.user, folder_id, name=typed, scenario_id=parameters.scenario_id(request))
            messages.success(request, gettext("Saved."))
            return redirect("conversations:folder", folder_id)
        except InputError as refusal:
            error = error_sentence(refusal, request_reader(request))
    before = parameters.page_end(request)
    shown = list_conversations(request.user, Place.ANYWHERE, folder=found, before=before, limit=CONVERSATIONS_PER_PAGE)
    context = {
        **documents_context(found, request_reader(request)),
        "folder": found,
        "conversations": shown,
        "more": PageEnd.of(shown, limit=CONVERSATIONS_PER_PAGE),
        **_form_context(request, typed, error),
    }
    return render(request, "conversations/folder.html", context, status=400 if error else 200)


@require_http_methods(["GET", "POST"])
@answers_errors()
def delete(request: HtmxRequest, folder_id: int) -> HttpResponse:
    """Ask whether to delete the folder, and its conversations with it, and do it. Its documents go with it."""
    found = find_folder(request.user, folder_id)
    if request.method == "POST":
        delete_folder(request.user, folder_id, with_conversations=request.POST.get("conversations") == "delete")
        messages.success(request, gettext("“%(name)s” is deleted.") % {"name": isolate_name(found.name)})
        return redirect("conversations:folders")
    context = {
        "folder": found,
        "held": found.conversations.filter(deleted_at=None).count(),
        "document_count": found.documents.count(),
    }
    return render(request, "conversations/folder_delete.html", context)


@require_POST
@answers_errors()
def fold(request: HtmxRequest, folder_id: int) -> HttpResponse:
    """Fold the folder in the list, or unfold it, and return it as it is shown then."""
    find_folder(request.user, folder_id)  # first: of someone else's nothing more is asked
    found = fold_folder(request.user, folder_id, is_folded=parameters.flag(request, "folded"))
    if not request.htmx:
        return redirect("conversations:folder", folder_id)
    current = parameters.optional_unique_id(request, "current")
    context = {"group": folder_group(found, set()), "listed": {"current": current}}
    return render(request, "conversations/_folder_group.html", context)


@require_http_methods(["GET", "POST"])
@answers_errors()
def move(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Ask for the folder, which may be a new one, and put the conversation there."""
    conversation = find_conversation(request.user, public_id)
    error, typed = "", request.POST.get("name", "")
    if request.method == "POST":
        try:
            folder = _chosen_folder(request, typed)
            change = move_conversations(request.user, [public_id], folder)
        except InputError as refusal:
            error = error_sentence(refusal, request_reader(request))
        else:
            _say_moved(request, conversation.title or gettext(UNTITLED), folder, change.pk)
            return _moved(request, public_id)
    context = {
        "conversation": conversation,
        "folders": request.user.folders.all(),
        **_form_context(request, typed, error),
    }
    template = "conversations/_move.html" if request.htmx else "conversations/move.html"
    return render(request, template, context, status=400 if error and not request.htmx else 200)


def _chosen_folder(request: HtmxRequest, name: str) -> Folder | None:
    """Return the folder of the form: a new one where a name was typed, None where none is chosen."""
    folder_id = parameters.folder_id(request)
    chosen = find_folder(request.user, folder_id) if folder_id else None
    return create_folder(request.user, name=name) if name.strip() else chosen


def _say_moved(request: HtmxRequest, title: str, folder: Folder | None, change_id: int) -> None:
    names = {"title": isolate_name(title), "folder": isolate_name(folder.name) if folder else ""}
    words = gettext("“%(title)s” is in “%(folder)s” now.") if folder else gettext("“%(title)s” is in no folder now.")
    messages.success(request, words % names, extra_tags=reverse("conversations:undo", args=[change_id]))


def _moved(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Render the list again, and have the dialog closed from which it was asked for."""
    if not request.htmx:
        return redirect("conversations:conversation", public_id)
    response = render(request, "conversations/changed_list.html", {"listed": list_again(request)})
    return trigger_client_event(retarget(reswap(response, "outerHTML"), "#conversation-list"), "notesSaved", {})


def _form_context(request: HtmxRequest, typed: str, error: str) -> dict[str, object]:
    return {
        "typed": typed,
        "error": error,
        "most_characters": MOST_NAME_CHARACTERS,
        "scenarios": list_scenarios(request.user),
    }
