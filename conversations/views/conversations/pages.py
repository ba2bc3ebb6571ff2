"""Pages that show a conversation, and the same as data for a page that has no socket."""

from __future__ import annotations

import datetime as dt
import uuid

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_GET, require_safe

from chatsite.accounts.preferences.reader_time_zone import remember_time_zone
from conversations.access import find_conversation
from conversations.core.errors import ConversationNotFound
from conversations.models import Conversation
from conversations.selectors.conversations.deleted_conversations import find_deleted_conversation
from conversations.selectors.conversations.folders import find_folder, scenario_of_folder
from conversations.selectors.conversations.sources import question_at
from conversations.selectors.conversations.thread import position_of, position_on
from conversations.selectors.retention.holds import holds_on
from conversations.services.conversations.default_scenario import scenario_to_begin_with
from conversations.views.conversation_list.deleted import show_deleted
from conversations.views.conversation_list.listed_conversations import list_again, listed_conversations, more_of_kind
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest
from conversations.wording.error_sentences import request_reader

from .map_figures import map_figures
from .page_context import ThreadPlace, folder_context, new_page_context, page_context, thread_piece_context
from .snapshot import conversation_snapshot

PAGE = "conversations/conversation.html"


@require_safe
@answers_errors()
def new(request: HtmxRequest) -> HttpResponse:
    """A conversation that begins with its first message; its id is chosen here, so that sending twice begins one."""
    remember_time_zone(request.user, request.COOKIES)
    folder_id, scenario_id = parameters.folder_id(request), parameters.scenario_id(request)
    folder = find_folder(request.user, folder_id) if folder_id else None
    in_folder = folder and scenario_id is None and scenario_of_folder(request.user, folder)
    scenario = in_folder or scenario_to_begin_with(request.user, scenario_id)
    public_id, shared = uuid.uuid4(), parameters.shared_text(request)
    context = new_page_context(request, public_id, scenario, folder=folder) | {
        "draft": shared,
        "is_shared": bool(shared),
    }
    return render(request, PAGE, context)


@require_safe
@answers_errors()
def conversation(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """A conversation; with the position of a question to be asked again more narrowly, that question is the draft."""
    try:
        found = find_conversation(request.user, public_id, for_page=True)
    except ConversationNotFound:
        return show_deleted(request, find_deleted_conversation(request.user, public_id), status=404)
    remember_time_zone(request.user, request.COOKIES)
    context = page_context(request, found)
    position = parameters.position(request, "narrow")
    if position is not None:
        context |= {"draft": question_at(found, position), "is_narrowing": True}
    return render(request, PAGE, context)


@require_GET
@answers_errors()
def thread(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Messages at a place of the thread: a piece of it for scripts, a page of its own for everyone else."""
    found = find_conversation(request.user, public_id)
    place = _place(request, found)
    if not request.htmx:
        return render(request, PAGE, page_context(request, found, place=place))
    context = thread_piece_context(request, found, place)
    return render(request, "conversations/thread_piece.html", context)


def _place(request: HtmxRequest, conversation: Conversation) -> ThreadPlace:
    """Return the place that the query names: before or after a position, or at a position, a message or a day."""
    at = parameters.position(request, "at")
    message, day = parameters.message_id(request), parameters.day(request, "on")
    if message is not None:
        at = position_of(conversation, message)
    elif day is not None:
        at = position_on(conversation, dt.datetime.combine(day, dt.time.min, tzinfo=parameters.time_zone(request)))
    return ThreadPlace(parameters.position(request, "before"), parameters.position(request, "after"), at)


@require_GET
@answers_errors()
def place(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Where the conversation stands in the list, as its page shows it: the title's menu, its folder, and notes.

    The notes say that it is archived, deleted soon or held.
    """
    conversation = find_conversation(request.user, public_id)
    context = {
        "conversation": conversation,
        "public_id": public_id,
        "holds": holds_on(conversation),
        **folder_context(conversation),
    }
    return render(request, "conversations/_place.html", context)


@require_GET
@answers_errors()
def conversation_map(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """The map: the whole conversation in few buckets, what is marked in it, and the HTML in which scripts draw it."""
    found = find_conversation(request.user, public_id)
    markup = render_to_string("conversations/_map.html", {"public_id": public_id})
    return JsonResponse({**map_figures(found), "markup": markup})


@require_GET
@answers_errors()
def sync(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """The snapshot frame from a position on, for a page whose socket can't connect."""
    found = find_conversation(request.user, public_id)
    from_position = parameters.position(request, "from") or 0
    return JsonResponse(conversation_snapshot(found, from_position, reader=request_reader(request)).to_dict())


@require_GET
@answers_errors()
def conversations(request: HtmxRequest) -> HttpResponse:
    """The list of conversations, and its next page."""
    current = parameters.optional_unique_id(request, "current")
    before = parameters.page_end(request)
    folder_id = parameters.folder_id(request)
    if before and (folder_id or parameters.name(request, "kind") == "starred"):
        folder = find_folder(request.user, folder_id) if folder_id else None
        group = more_of_kind(request, before=before, folder=folder)
        return render(request, "conversations/_entries.html", {"group": group, "listed": {"current": current}})
    listed = listed_conversations(request, current=current, before=before) if before else list_again(request)
    context = {"listed": listed}
    if not request.htmx:
        return render(request, "conversations/list.html", context)
    return render(request, "conversations/_list_page.html" if before else "conversations/_list.html", context)
