"""`POST /v1/chat/completions`: one completion, whole or as a stream.

Without a conversation nothing is kept of it but the bill; with one it is a reply, as the page asks for it.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase, JsonResponse

from conversations.core.api.chat_request import CONVERSATION_HEADER, ChatRequest, read_chat_request
from conversations.core.api.idempotency import KEY_HEADER, RETRY_HEADER, IdempotencyMarks, read_idempotency_marks
from conversations.models import ApiKey, ApiScope
from conversations.providers.clients.client_pool import completion_client
from conversations.services.api.ask_conversation import AskedReply, ask_conversation
from conversations.services.api.event_queue import AnswerPiece, EventQueue, Failed
from conversations.services.api.followed_reply import FollowedReply
from conversations.services.api.idempotent_requests import Idempotency, join_first_request
from conversations.services.api.joined_chat import JoinedChat, JoinedRequest
from conversations.services.api.prepare_chat import PreparedChat, prepare_chat
from conversations.services.api.running_chat import RunningChat

from .answer_stream import stream_answer, wait_for_first_word
from .api_view import api_view
from .chat_answers import ChatAnswer
from .turns import check_readers, in_turn, note_reader

WINDOW = "x-windowseat-window"
SENT_AGAIN = "Idempotent-Replayed"  # as Stripe says that it is the answer to an earlier request
Begun = tuple[ChatRequest, PreparedChat | AskedReply | JoinedRequest, Idempotency | None]


@api_view("POST", ApiScope.CHAT)
async def chat_completions(request: HttpRequest, *, key: ApiKey) -> HttpResponseBase:
    named = request.headers.get(CONVERSATION_HEADER)
    marks = read_idempotency_marks(request.headers.get(KEY_HEADER), request.headers.get(RETRY_HEADER))
    asked, begun, idempotency = await in_turn(key, lambda: _begin(key, request.body, named, marks))
    is_sent_again = isinstance(begun, JoinedRequest) or (isinstance(begun, AskedReply) and begun.is_sent_again)
    if is_sent_again:
        check_readers(key.owner_id)
    if isinstance(begun, AskedReply):
        running: EventQueue = FollowedReply(begun)
    elif isinstance(begun, JoinedRequest):
        running = JoinedChat(begun)
    else:
        running = RunningChat(begun, completion_client(), idempotency)
    if is_sent_again:
        note_reader(key.owner_id, running)
    if asked.streams:
        return await _stream(asked, running)
    try:
        return await _whole(asked, running)
    finally:
        await running.close()


def _begin(key: ApiKey, body: bytes, conversation: str | None, marks: IdempotencyMarks) -> Begun:
    """Find the same request, choose the window, or post the message."""
    asked = read_chat_request(body, conversation)
    idempotency = Idempotency(key, marks, asked.asked_for) if marks.may_be_sent_again else None
    if asked.conversation:
        return asked, ask_conversation(key, asked.conversation, asked, idempotency), idempotency
    if idempotency and (first := join_first_request(idempotency)):
        return asked, JoinedRequest(idempotency, first.pk), idempotency
    return asked, prepare_chat(key, asked), idempotency


async def _whole(asked: ChatRequest, running: EventQueue) -> JsonResponse:
    while isinstance(event := await running.next(), AnswerPiece):
        pass
    if isinstance(event, Failed):
        raise event.error
    response = JsonResponse(_answer(asked, running).whole(event))
    _name_what_it_is(response, asked, running)
    return response


async def _stream(asked: ChatRequest, running: EventQueue) -> HttpResponseBase:
    await wait_for_first_word(running)
    response = stream_answer(_answer(asked, running), running)
    _name_what_it_is(response, asked, running)
    return response


def _answer(asked: ChatRequest, running: EventQueue) -> ChatAnswer:
    number = running.window_id.hex if running.window_id else "0"
    return ChatAnswer(f"chatcmpl-{number}", asked.language_model, asked.tells_usage)


def _name_what_it_is(response: HttpResponseBase, asked: ChatRequest, running: EventQueue) -> None:
    """Name the record of the window, which the key may read, and the conversation."""
    if running.window_id:
        response[WINDOW] = str(running.window_id)
    if running.is_sent_again:
        response[SENT_AGAIN] = "true"
    if asked.conversation:
        response[CONVERSATION_HEADER] = str(asked.conversation)
