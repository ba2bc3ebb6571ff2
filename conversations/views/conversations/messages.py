"""Views that post a message and stop, regenerate or continue a reply, by a form or by a page without a socket."""

from __future__ import annotations

import uuid

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import transaction
from django.http import HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from conversations.access import find_conversation, find_reply
from conversations.core.errors import (
    ConversationError,
    ConversationNotFound,
    FrameError,
    ScenarioNotFound,
    TooManyPictures,
)
from conversations.models import Scenario
from conversations.selectors.conversations.pictures import ShownPicture, added_pictures
from conversations.services.conversations.conversations import conversation_to_post_to, start_conversation
from conversations.services.conversations.default_scenario import default_scenario, scenario_to_begin_with
from conversations.services.messages.post_message import PostedMessage, count_ahead, is_counted_ahead, post_message
from conversations.services.replies.continue_reply import continue_reply
from conversations.services.replies.regenerate_reply import regenerate_reply
from conversations.services.replies.stop_reply import stop_reply
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors, wants_json
from conversations.views.http.htmx_request import HtmxRequest
from conversations.views.http.stopping import after_stop, stop_has_ended
from conversations.views.pictures.pictures import keep_picture
from conversations.wording.error_sentences import error_sentence, request_reader

from .page_context import new_page_context, page_context

ENDING = 202  # status of an answer about a reply that is being stopped


def show_page_with_draft(request: HtmxRequest, error: ConversationError, public_id: uuid.UUID) -> HttpResponse:
    """The page that the form was on, with what was typed and the reason why it was not sent."""
    try:
        context = page_context(request, find_conversation(request.user, public_id))
    except ConversationNotFound:
        context = new_page_context(request, public_id, _scenario_of_draft(request))
        context["searches_web"] = request.POST.get("searches_web") == "true"
    draft = {
        "draft": parameters.content(request),
        "draft_pictures": _pictures_of_draft(request, public_id),
        "error": error_sentence(error, request_reader(request)),
    }
    return render(request, "conversations/conversation.html", context | draft)


def _pictures_of_draft(request: HtmxRequest, public_id: uuid.UUID) -> tuple[ShownPicture, ...]:
    """Return the pictures that the form named or brought with it, to be sent with the next attempt."""
    try:
        named = parameters.picture_ids(request)
        conversation = find_conversation(request.user, public_id)
    except (FrameError, ConversationNotFound):
        return ()
    return added_pictures(conversation.pk, [*named, *getattr(request, "added_pictures", ())])


def _scenario_of_draft(request: HtmxRequest) -> Scenario:
    """Return what the form had chosen; the default if that can't be chosen any more."""
    try:
        return scenario_to_begin_with(request.user, parameters.scenario_id(request))
    except (ScenarioNotFound, FrameError):
        return default_scenario()


@after_stop
@require_POST
@answers_errors(refuse=show_page_with_draft)
def post(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Send a message; the first one begins the conversation. A plain form brings its pictures with it."""
    client_id = parameters.unique_id(request.POST.get("client_id"), "client_id")
    content, beginning = parameters.content(request), parameters.beginning(request)
    pictures = _keep_pictures(request, public_id)
    if is_counted_ahead(content):
        count_ahead(content, conversation_to_post_to(user=request.user, public_id=public_id, **beginning))
    with transaction.atomic():  # a message that is refused begins nothing
        conversation = start_conversation(user=request.user, public_id=public_id, **beginning)
        posted = post_message(
            user=request.user,
            conversation=conversation,
            content=content,
            client_id=client_id,
            pictures=pictures,
        )
    if wants_json(request):
        return acknowledgement(posted)
    return redirect("conversations:conversation", public_id)


def _keep_pictures(request: HtmxRequest, public_id: uuid.UUID) -> list[int]:
    """Keep the pictures of the form, and return their ids behind those of the pictures that it names."""
    request.added_pictures = []
    named, files = parameters.picture_ids(request), request.FILES.getlist("files")
    if files and len(named) + len(files) > settings.PICTURES_PER_MESSAGE:
        raise TooManyPictures(most=settings.PICTURES_PER_MESSAGE)
    for file in files:
        request.added_pictures.append(keep_picture(request, public_id, file).pk)
    return [*named, *request.added_pictures]


def acknowledgement(posted: PostedMessage) -> JsonResponse:
    """Tell a script what is stored; that it was new, or was here already, is in the status."""
    stored = {
        "message": posted.message.pk,
        "reply": posted.reply.pk,
        "position": posted.message.position,
        "cleaned": posted.cleaned,
    }
    return JsonResponse(stored, status=201 if posted.created else 200)


async def stop(request: HtmxRequest, public_id: uuid.UUID, reply_id: int) -> HttpResponseBase:
    """Stop the reply and answer once it has ended; after a while with 202, which says that it is still ending."""
    answer = await sync_to_async(_ask_to_stop)(request, public_id=public_id, reply_id=reply_id)
    if answer.status_code != ENDING:
        return answer
    await stop_has_ended(request, public_id)
    return await sync_to_async(_answer_stop)(request, public_id=public_id, reply_id=reply_id)


@require_POST
@answers_errors()
def _ask_to_stop(request: HtmxRequest, public_id: uuid.UUID, reply_id: int) -> HttpResponse:
    stop_reply(conversation=find_conversation(request.user, public_id), reply_id=reply_id)
    return HttpResponse(status=ENDING)


@answers_errors()
def _answer_stop(request: HtmxRequest, public_id: uuid.UUID, reply_id: int) -> HttpResponse:
    if wants_json(request) and not find_reply(find_conversation(request.user, public_id), reply_id).has_ended:
        return JsonResponse({"reply": reply_id, "ending": True}, status=ENDING)
    return _done(request, public_id, reply_id)


@after_stop
@require_POST
@answers_errors()
def regenerate(request: HtmxRequest, public_id: uuid.UUID, reply_id: int) -> HttpResponse:
    conversation = find_conversation(request.user, public_id)
    reply = regenerate_reply(
        user=request.user,
        conversation=conversation,
        reply_id=reply_id,
        more_room="more_room" in request.POST,
        language_model=parameters.name(request, "language_model"),
    )
    return _done(request, public_id, reply.pk)


@require_POST
@answers_errors()
def go_on(request: HtmxRequest, public_id: uuid.UUID, reply_id: int) -> HttpResponse:
    """Continue a reply that was cut off, behind as many code points as the form says."""
    conversation = find_conversation(request.user, public_id)
    length = parameters.length(request)
    continue_reply(user=request.user, conversation=conversation, reply_id=reply_id, length=length)
    return _done(request, public_id, reply_id)


def _done(request: HtmxRequest, public_id: uuid.UUID, reply_id: int) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"reply": reply_id})
    # Without a fragment: browsers do not refresh an address that has one.
    return redirect("conversations:conversation", public_id)
