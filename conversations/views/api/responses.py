"""`/v1/responses`: ask for a response, whole, as a stream or in the background; read, cancel and delete it.

With `store: false` it is a chat completion in another form; else it is a reply of a conversation, as on the page.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponseBase, JsonResponse, StreamingHttpResponse

from conversations.core.api.fields import JsonSchema, one_of, only, said, whole_number
from conversations.core.api.idempotency import KEY_HEADER, RETRY_HEADER, IdempotencyMarks, read_idempotency_marks
from conversations.core.api.item_ids import LARGEST_NUMBER, conversation_id
from conversations.core.api.response_request import COUNTED, INCLUDED, NAMES, ResponseRequest, read_response_request
from conversations.core.errors import ParameterInvalid, PromptError
from conversations.models import ApiKey, ApiScope
from conversations.providers.clients.client_pool import completion_client
from conversations.services.api.api_conversations import items_of, list_items
from conversations.services.api.ask_response import ask_response, find_stored_item
from conversations.services.api.completed_chat import CompletedChat
from conversations.services.api.count_input import count_input
from conversations.services.api.event_queue import AnswerPiece, EventQueue, Failed
from conversations.services.api.followed_reply import FollowedReply
from conversations.services.api.idempotent_requests import Idempotency, join_first_request
from conversations.services.api.joined_chat import JoinedChat, JoinedRequest
from conversations.services.api.prepare_chat import PreparedChat, prepare_chat
from conversations.services.api.running_chat import RunningChat
from conversations.services.api.stored_responses import (
    StoredResponse,
    cancel_response,
    delete_response,
    find_reply_of_key,
    find_response,
)

from .answer_stream import stream_answer, wait_for_first_word
from .api_view import api_view, by_method, read_query
from .chat_completions import SENT_AGAIN, WINDOW
from .item_pages import QUERY as ITEMS_QUERY
from .item_pages import page_of, read_wanted_items, whole_number_of
from .response_answers import ResponseEvents, ResponseHead, output_of, status_of
from .turns import check_readers, in_turn, note_reader

INCLUDES = ("include", "include[]")
AFTER = whole_number(0, LARGEST_NUMBER, "a whole number is needed")
SWITCH = one_of("true", "false")
INCLUDE = {"type": "array", "items": {"enum": [INCLUDED]}}
QUERY: Mapping[str, JsonSchema] = {
    "stream": SWITCH.schema,
    "starting_after": said(AFTER.schema, "The number of the last event that was read."),
    "include_obfuscation": said(only("false").schema, "Changes nothing."),
    **{name: said(INCLUDE, "Changes nothing.") for name in INCLUDES},
}


@api_view("POST", ApiScope.CHAT)
async def responses(request: HttpRequest, *, key: ApiKey) -> HttpResponseBase:
    marks = read_idempotency_marks(request.headers.get(KEY_HEADER), request.headers.get(RETRY_HEADER))
    asked, begun, idempotency = await in_turn(key, lambda: _begin(key, request.body, marks))
    is_sent_again = isinstance(begun, JoinedRequest) or (
        isinstance(begun, StoredResponse) and begun.asked.is_sent_again
    )
    if is_sent_again:
        check_readers(key.owner_id)
    if isinstance(begun, PreparedChat | JoinedRequest):
        running: EventQueue = (
            JoinedChat(begun)
            if isinstance(begun, JoinedRequest)
            else RunningChat(begun, completion_client(), idempotency)
        )
        find_head = partial(_unstored_head, asked, running)
    elif asked.background and not asked.chat.streams:
        return JsonResponse(_stored_head(begun).to_json("queued"))
    else:
        running = FollowedReply(begun.asked)
        find_head = partial(_stored_head, begun)
    if is_sent_again:
        note_reader(key.owner_id, running)
    if asked.background:
        events = ResponseEvents(find_head(), counts_characters=True, is_queued=True)
        return _stream_of(events, running)
    if asked.chat.streams:
        return await _stream(running, find_head)
    try:
        return await _whole(running, find_head)
    finally:
        await running.close()


def _begin(
    key: ApiKey, body: bytes, marks: IdempotencyMarks
) -> tuple[ResponseRequest, PreparedChat | StoredResponse | JoinedRequest, Idempotency | None]:
    """Find the same request, choose the window, or post the message."""
    with _own_names():
        asked = read_response_request(body, partial(find_stored_item, key))
        idempotency = Idempotency(key, marks, asked.chat.asked_for) if marks.may_be_sent_again else None
        if asked.stores:
            return asked, ask_response(key, asked, idempotency), idempotency
        if idempotency and (first := join_first_request(idempotency)):
            return asked, JoinedRequest(idempotency, first.pk), idempotency
        return asked, prepare_chat(key, asked.chat), idempotency


@contextmanager
def _own_names() -> Iterator[None]:
    """Have errors name the parameters of a response, in place of those of the chat completion that it asks for."""
    try:
        yield
    except ParameterInvalid as error:
        if error.parameter in NAMES:
            raise ParameterInvalid(NAMES[error.parameter], str(error.params["reason"])) from None
        raise
    except PromptError as error:
        error.parameter = "input"
        raise


async def _whole(running: EventQueue, find_head: Callable[[], ResponseHead]) -> JsonResponse:
    while isinstance(event := await running.next(), AnswerPiece):
        pass
    if isinstance(event, Failed):
        raise event.error
    response = JsonResponse(find_head().of_completed(event, completed_at=int(time.time())))
    _name_window(response, running)
    return response


async def _stream(running: EventQueue, find_head: Callable[[], ResponseHead]) -> HttpResponseBase:
    await wait_for_first_word(running)
    return _stream_of(ResponseEvents(find_head()), running)


def _stream_of(events: ResponseEvents, running: EventQueue) -> StreamingHttpResponse:
    response = stream_answer(events, running)
    _name_window(response, running)
    return response


@api_view("GET", ApiScope.CHAT, ApiScope.READ)
async def _read(request: HttpRequest, *, key: ApiKey, response_id: str) -> HttpResponseBase:
    """Tell how far a response is, or go on with the stream of one that is made in the background."""
    streams, starting_after = _query(request)
    if not streams:
        return JsonResponse(await in_turn(key, lambda: _as_it_stands(find_response(key, response_id))))
    found = await in_turn(key, find_response, key, response_id)
    if not found.is_background:
        raise ParameterInvalid("stream", "only a response that was made with background: true can be read again so")
    events = ResponseEvents(
        _stored_head(found),
        counts_characters=True,
        is_queued=True,
        starting_after=starting_after,
        completed_at=_completed_at(found),
    )
    check_readers(key.owner_id)
    running = FollowedReply(found.asked)
    note_reader(key.owner_id, running)
    return _stream_of(events, running)


@api_view("DELETE", ApiScope.MANAGE)
async def _delete(request: HttpRequest, *, key: ApiKey, response_id: str) -> HttpResponseBase:
    await in_turn(key, delete_response, key, response_id)
    return JsonResponse({"id": response_id, "object": "response", "deleted": True})


response = by_method(GET=_read, DELETE=_delete)


@api_view("POST", ApiScope.CHAT)
async def cancel(request: HttpRequest, *, key: ApiKey, response_id: str) -> HttpResponseBase:
    return JsonResponse(await in_turn(key, lambda: _as_it_stands(cancel_response(key, response_id))))


@api_view("GET", ApiScope.CHAT, ApiScope.READ)
async def input_items(request: HttpRequest, *, key: ApiKey, response_id: str) -> HttpResponseBase:
    """List what a response could read: the messages up to the one that it answers."""
    return await in_turn(key, _list_input, key, response_id, read_query(request, *ITEMS_QUERY))


def _list_input(key: ApiKey, response_id: str, query: Mapping[str, str]) -> JsonResponse:
    wanted = read_wanted_items(query)
    conversation, reply = find_reply_of_key(key, response_id)
    if reply.active:
        items = list_items(conversation, wanted, last_position=reply.answered_message.position)
        return JsonResponse(page_of(*items))
    return JsonResponse(page_of(list(items_of(conversation, reply.answered_message)), has_more=False))


@api_view("POST", ApiScope.CHAT)
async def input_tokens(request: HttpRequest, *, key: ApiKey) -> HttpResponseBase:
    """Count the tokens of the window that would be sent."""
    tokens = await in_turn(key, lambda: _count(key, request.body))
    return JsonResponse({"object": "response.input_tokens", "input_tokens": tokens})


def _count(key: ApiKey, body: bytes) -> int:
    with _own_names():
        return count_input(key, read_response_request(body, partial(find_stored_item, key), COUNTED))


def _query(request: HttpRequest) -> tuple[bool, int]:
    """Return whether a stream is asked for, and after which number. Raises `ParameterInvalid`."""
    query = read_query(request, *QUERY.keys() - {*INCLUDES}, lists=INCLUDES)
    if any(each != INCLUDED for name in INCLUDES for each in request.GET.getlist(name)):
        raise ParameterInvalid("include", f"only {INCLUDED} is supported")
    if query.get("include_obfuscation", "false") != "false":
        raise ParameterInvalid("include_obfuscation", "only false is supported")
    streams = query.get("stream", "false")
    if streams not in SWITCH.schema["enum"]:
        raise ParameterInvalid("stream", "true or false is needed")
    after = AFTER(whole_number_of(query["starting_after"]), "starting_after") if "starting_after" in query else -1
    return streams == "true", after


def _as_it_stands(found: StoredResponse) -> dict[str, Any]:
    """Return a stored response as an object."""
    head, reading = _stored_head(found), found.read()
    if isinstance(reading.end, CompletedChat):
        return head.of_completed(reading.end, completed_at=_completed_at(found))
    output = output_of(head.suffix, reading.reasoning, reading.text, incomplete="cut") if reading.text else []
    if isinstance(reading.end, Failed):
        status, error = status_of(reading.end.error), reading.end.error
        return head.to_json(status, output, error=None if status == "cancelled" else error)
    return head.to_json("queued" if found.is_waiting else "in_progress", output)


def _completed_at(found: StoredResponse) -> int | None:
    return int(found.ended_at.timestamp()) if found.ended_at else None


def _stored_head(found: StoredResponse) -> ResponseHead:
    return ResponseHead(
        f"resp_{found.id.suffix}",
        found.id.suffix,
        found.asked.language_model,
        int(found.created_at.timestamp()),
        conversation_id(found.id.conversation),
        found.echo,
    )


def _unstored_head(asked: ResponseRequest, running: EventQueue) -> ResponseHead:
    """Return what a response is called of which nothing is stored but the bill: after the record of its window."""
    suffix = (running.window_id or uuid.uuid4()).hex
    return ResponseHead(f"resp_{suffix}", suffix, asked.chat.language_model, int(time.time()), echo=asked.echo)


def _name_window(response: HttpResponseBase, running: EventQueue) -> None:
    if running.window_id:
        response[WINDOW] = str(running.window_id)
    if running.is_sent_again:
        response[SENT_AGAIN] = "true"
