"""Views of the list: star, archive, move and delete one or several conversations, undo that, and show the archive."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_GET, require_POST, require_safe

from chatsite.accounts.models import User
from chatsite.names import isolate_name
from conversations.access import find_conversation
from conversations.core.errors import FrameError
from conversations.models import Conversation, Folder, ListChange
from conversations.models.conversation import UNTITLED
from conversations.selectors.conversations.conversation_list import Place, list_conversations
from conversations.selectors.conversations.folders import find_folder
from conversations.selectors.conversations.list_pages import PageEnd
from conversations.services.conversations.list_changes import (
    arrange_conversations,
    delete_conversations,
    move_conversations,
    undo_list_change,
)
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest

from .listed_conversations import CONVERSATIONS_PER_PAGE, list_again

MOST_AT_ONCE = 1_000


@require_GET
@answers_errors()
def actions(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """What can be done with a conversation: as the menu of its entry in the list, or as a page of its own."""
    conversation = find_conversation(request.user, public_id)
    template = "conversations/_entry_menu.html" if request.htmx else "conversations/actions.html"
    return render(request, template, {"conversation": conversation})


@require_POST
@answers_errors()
def star(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Put the conversation on top of the list, or take it from there."""
    conversation = find_conversation(request.user, public_id)
    arrange_conversations(request.user, [public_id], starred=parameters.flag(request, "starred"))
    return _show_list(request) if request.htmx else redirect(_page_to_go_back_to(request, conversation))


@require_POST
@answers_errors()
def archive(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Take the conversation off the list, or bring it back there."""
    conversation = find_conversation(request.user, public_id)
    archived = parameters.flag(request, "archived")
    change = arrange_conversations(request.user, [public_id], archived=archived)
    words = gettext("“%(title)s” is archived.") if archived else gettext("“%(title)s” is back in the list.")
    _offer_undo(request, words % {"title": isolate_name(conversation.title or gettext(UNTITLED))}, change)
    return _show_list(request) if request.htmx else redirect(_page_to_go_back_to(request, conversation))


@require_GET
@answers_errors()
def select(request: HtmxRequest) -> HttpResponse:
    """What is done with several conversations: the bar below the list for scripts, else a page with boxes to tick."""
    context: dict[str, object] = {"folders": request.user.folders.all()}
    if request.htmx:
        return render(request, "conversations/_selection_bar.html", context)
    before = parameters.page_end(request)
    shown = list_conversations(request.user, Place.ANYWHERE, before=before, limit=CONVERSATIONS_PER_PAGE)
    context["conversations"] = shown
    context["more"] = PageEnd.of(shown, limit=CONVERSATIONS_PER_PAGE)
    return render(request, "conversations/select.html", context)


@require_POST
@answers_errors()
def arrange(request: HtmxRequest) -> HttpResponse:
    """Do with several conversations what the form's `action` says, as one change that can be undone."""
    folder_id = parameters.folder_id(request)
    folder = find_folder(request.user, folder_id) if folder_id else None
    ids = [parameters.unique_id(each, "conversation") for each in request.POST.getlist("conversation")]
    if not 0 < len(ids) <= MOST_AT_ONCE:
        raise FrameError("conversation")
    change, words = _arrange(request.user, ids, parameters.name(request, "action"), folder)
    _offer_undo(request, words, change)
    return _show_list(request) if request.htmx else redirect("conversations:select")


def _arrange(user: User, ids: list[uuid.UUID], action: str, folder: Folder | None) -> tuple[ListChange, str]:
    """Return the change and what is said of it: of those that are still there, which may be fewer than *ids*."""
    match action:
        case "star":
            n = (change := arrange_conversations(user, ids, starred=True)).count
            words = ngettext("%(count)s conversation is starred.", "%(count)s conversations are starred.", n)
        case "archive":
            n = (change := arrange_conversations(user, ids, archived=True)).count
            words = ngettext("%(count)s conversation is archived.", "%(count)s conversations are archived.", n)
        case "move":
            n = (change := move_conversations(user, ids, folder)).count
            words = ngettext("%(count)s conversation is moved.", "%(count)s conversations are moved.", n)
        case "delete":
            n = (change := delete_conversations(user, ids)).count
            words = ngettext("%(count)s conversation is deleted.", "%(count)s conversations are deleted.", n)
        case _:
            raise FrameError("action")
    return change, words % {"count": n}


@require_POST
@answers_errors()
def undo(request: HtmxRequest, change_id: int) -> HttpResponse:
    """Undo one change of the list."""
    undo_list_change(request.user, change_id)
    return _show_list(request) if request.htmx else redirect("conversations:new")


@require_safe
@answers_errors()
def archived(request: HtmxRequest) -> HttpResponse:
    """The archive: conversations that have left the list."""
    found = list_conversations(
        request.user,
        Place.ARCHIVED,
        before=parameters.page_end(request),
        limit=CONVERSATIONS_PER_PAGE,
    )
    more = PageEnd.of(found, limit=CONVERSATIONS_PER_PAGE)
    context = {"conversations": found, "more": more}
    return render(request, "conversations/archived.html", context)


def _offer_undo(request: HtmxRequest, words: str, change: ListChange) -> None:
    messages.success(request, words, extra_tags=reverse("conversations:undo", args=[change.pk]))


def _show_list(request: HtmxRequest) -> HttpResponse:
    """Render the list again, and what is said of the change."""
    return render(request, "conversations/changed_list.html", {"listed": list_again(request)})


def _page_to_go_back_to(request: HtmxRequest, conversation: Conversation) -> str:
    if parameters.name(request, "back") == "archive":
        return reverse("conversations:archived")
    return reverse("conversations:conversation", args=[conversation.public_id])
