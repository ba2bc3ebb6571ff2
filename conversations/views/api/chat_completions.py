"""`POST /v1/chat/completions`: one completion, whole or as a stream.

Without a conversation nothing is kept of it but the bill; with one it is a reply, as the page asks for it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from functools import partial
from weakref import WeakKeyDictionary

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, JsonResponse, StreamingHttpResponse

from chatsite.postgres.pool import release_connection
from conversations.core.api.chat_request import CONVERSATION_HEADER, ChatRequest, read_chat_request
from conversations.core.api.repeats import KEY_HEADER, RETRY_HEADER, RepeatMarks, read_repeat_marks
from conversations.core.errors import TooManyRequestsAtOnce
from conversations.live.user_turns import QueueFull, UserTurns
from conversations.models import ApiKey, ApiScope
from conversations.providers.clients.client_pool import completion_client
from conversations.services.api.ask_conversation import AskedReply, ask_conversation
from conversations.services.api.complete_chat import CompletedChat
from conversations.services.api.event_queue import AnswerPiece, EventQueue, Failed
from conversations.services.api.followed_reply import FollowedReply
from conversations.services.api.joined_chat import JoinedChat, JoinedRequest
from conversations.services.api.prepare_chat import PreparedChat, prepare_chat
from conversations.services.api.repeatable_requests import Repeatable, find_repeated
from conversations.services.api.running_chat import RunningChat

from .answers import answers_api
from .chat_answers import KEEP_ALIVE, ChatAnswer

# A stream waits so long for the first word, so that what fails before it has a status of its own.
FIRST_WORD_SECONDS = 15.0
WINDOW = "x-windowseat-window"
REPEATED = "Idempotent-Replayed"  # as Stripe says that it is the answer to an earlier request
MOST_WAITING = 64  # requests of one owner that wait to be begun
MOST_READERS = 32  # of one owner, of answers that were asked for before: no other limit holds for them
_readers_of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Counter[int]] = WeakKeyDictionary()
Begun = tuple[ChatRequest, PreparedChat | AskedReply | JoinedRequest, Repeatable | None]
_of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, UserTurns] = WeakKeyDictionary()


@answers_api("POST", ApiScope.CHAT)
async def chat_completions(request: HttpRequest, *, key: ApiKey) -> HttpResponseBase:
    asked, begun, repeatable = await _begin_in_turn(request, key)
    is_repeated = isinstance(begun, JoinedRequest) or (isinstance(begun, AskedReply) and begun.is_repeated)
    readers = _readers()
    if is_repeated and readers[key.owner_id] >= MOST_READERS:
        raise TooManyRequestsAtOnce
    if isinstance(begun, AskedReply):
        running: EventQueue = FollowedReply(begun)
    elif isinstance(begun, JoinedRequest):
        running = JoinedChat(begun)
    else:
        running = RunningChat(begun, completion_client(), repeatable)
    if is_repeated:
        readers[key.owner_id] += 1
        running.when_filled(partial(_forget_reader, readers, key.owner_id))
    if asked.streams:
        return await _stream(asked, running)
    try:
        return await _whole(asked, running)
    finally:
        await running.close()


async def _begin_in_turn(request: HttpRequest, key: ApiKey) -> Begun:
    """Begin so many requests of one owner at once as they may ask for pages: reading and counting takes the processor.

    The others wait in their order, without a database connection and with their bodies unread. Raises
    `TooManyRequestsAtOnce` where too many wait.
    """
    turns = _turns()
    if not turns.is_free(key.owner_id):
        await sync_to_async(release_connection)()
    try:
        async with turns.turn(key.owner_id):
            named = request.headers.get(CONVERSATION_HEADER)
            marks = read_repeat_marks(request.headers.get(KEY_HEADER), request.headers.get(RETRY_HEADER))
            return await sync_to_async(_begin)(key, request.body, named, marks)
    except QueueFull:
        raise TooManyRequestsAtOnce from None


def _readers() -> Counter[int]:
    """Return how many answers to earlier requests are being read for each owner, by the running event loop."""
    return _readers_of_loop.setdefault(asyncio.get_running_loop(), Counter())


def _forget_reader(readers: Counter[int], owner_id: int) -> None:
    readers[owner_id] -= 1
    if not readers[owner_id]:
        del readers[owner_id]


def _turns() -> UserTurns:
    """Return the running event loop's."""
    loop = asyncio.get_running_loop()
    if loop not in _of_loop:
        _of_loop[loop] = UserTurns(at_once=settings.REQUESTS_PER_USER, most_waiting=MOST_WAITING)
    return _of_loop[loop]


def _begin(key: ApiKey, body: bytes, conversation: str | None, marks: RepeatMarks) -> Begun:
    """Find the same request, choose the window, or post the message.

    The connection goes back before the provider is waited for.
    """
    try:
        asked = read_chat_request(body, conversation)
        repeatable = Repeatable(key, marks, asked.asked_for) if marks.may_be_repeated else None
        if asked.conversation:
            return asked, ask_conversation(key, asked.conversation, asked, repeatable), repeatable
        if repeatable and (first := find_repeated(repeatable)):
            return asked, JoinedRequest(repeatable, first.pk), repeatable
        return asked, prepare_chat(key, asked), repeatable
    finally:
        release_connection()


async def _whole(asked: ChatRequest, running: EventQueue) -> JsonResponse:
    while isinstance(event := await running.next(), AnswerPiece):
        pass
    if isinstance(event, Failed):
        raise event.error
    response = JsonResponse(_answer(asked, running).whole(event))
    _name_what_it_is(response, asked, running)
    return response


async def _stream(asked: ChatRequest, running: EventQueue) -> HttpResponseBase:
    """Begin a stream with its first word, or after a while; what fails before is an ordinary refusal."""
    try:
        await running.wait(FIRST_WORD_SECONDS)
        if isinstance(event := running.waiting, Failed):
            raise event.error
    except BaseException:
        await running.close()
        raise
    running.note_begun()
    stream = _ChatStream(_answer(asked, running), running)
    response = StreamingHttpResponse(stream, content_type="text/event-stream; charset=utf-8")
    response["X-Accel-Buffering"] = "no"
    _name_what_it_is(response, asked, running)
    return response


class _ChatStream:
    """The chunks of a stream. However it ends, the completion has ended and is settled."""

    def __init__(self, answer: ChatAnswer, running: EventQueue) -> None:
        self._answer = answer
        self._running = running

    async def __aiter__(self) -> AsyncIterator[bytes]:
        answer, running = self._answer, self._running
        try:
            yield answer.first()
            while True:
                while not await running.wait(FIRST_WORD_SECONDS):
                    yield KEEP_ALIVE
                event = await running.next()
                if isinstance(event, AnswerPiece):
                    yield answer.piece(event)
                else:
                    break
            yield answer.last(event) if isinstance(event, CompletedChat) else answer.failure(event.error)
        finally:
            await running.close()

    def close(self) -> None:
        """Called by Django at the end of a response, also of one that was never read."""
        self._running.close_soon()


def _answer(asked: ChatRequest, running: EventQueue) -> ChatAnswer:
    number = running.window_id.hex if running.window_id else "0"
    return ChatAnswer(f"chatcmpl-{number}", asked.language_model, asked.tells_usage)


def _name_what_it_is(response: HttpResponseBase, asked: ChatRequest, running: EventQueue) -> None:
    """Name the record of the window, which the key may read, and the conversation."""
    if running.window_id:
        response[WINDOW] = str(running.window_id)
    if running.is_repeated:
        response[REPEATED] = "true"
    if asked.conversation:
        response[CONVERSATION_HEADER] = str(asked.conversation)
