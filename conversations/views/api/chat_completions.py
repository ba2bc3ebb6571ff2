"""`POST /v1/chat/completions`: one completion, whole or as a stream, of which nothing is kept but the bill."""

from __future__ import annotations

from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponseBase, JsonResponse, StreamingHttpResponse

from chatsite.postgres.pool import release_connection
from conversations.core.api.chat_request import read_chat_request
from conversations.models import ApiKey, ApiScope
from conversations.providers.clients.client_pool import completion_client
from conversations.services.api.complete_chat import CompletedChat
from conversations.services.api.prepare_chat import PreparedChat, prepare_chat
from conversations.services.api.running_chat import AnswerPiece, Failed, RunningChat

from .answers import answers_api
from .chat_answers import KEEP_ALIVE, ChatAnswer

# A stream waits so long for the first word, so that what fails before it has a status of its own.
FIRST_WORD_SECONDS = 15.0
WINDOW = "x-windowseat-window"


@answers_api("POST", ApiScope.CHAT)
async def chat_completions(request: HttpRequest, *, key: ApiKey) -> HttpResponseBase:
    prepared = await sync_to_async(_prepare)(key, request.body)
    running = RunningChat(prepared, completion_client())
    if prepared.request.streams:
        return await _stream(prepared, running)
    try:
        return await _whole(prepared, running)
    finally:
        await running.close()


def _prepare(key: ApiKey, body: bytes) -> PreparedChat:
    """Choose the window; the connection goes back before the provider is waited for."""
    try:
        return prepare_chat(key, read_chat_request(body))
    finally:
        release_connection()


async def _whole(prepared: PreparedChat, running: RunningChat) -> JsonResponse:
    while isinstance(event := await running.next(), AnswerPiece):
        pass
    if isinstance(event, Failed):
        raise event.error
    response = JsonResponse(_answer(prepared, running).whole(event))
    _name_window(response, running)
    return response


async def _stream(prepared: PreparedChat, running: RunningChat) -> HttpResponseBase:
    """Begin a stream with its first word, or after a while; what fails before is an ordinary refusal."""
    try:
        await running.wait(FIRST_WORD_SECONDS)
        if isinstance(event := running.waiting, Failed):
            raise event.error
    except BaseException:
        await running.close()
        raise
    stream = _ChatStream(_answer(prepared, running), running)
    response = StreamingHttpResponse(stream, content_type="text/event-stream; charset=utf-8")
    response["X-Accel-Buffering"] = "no"
    _name_window(response, running)
    return response


class _ChatStream:
    """The chunks of a stream. However it ends, the completion has ended and is settled."""

    def __init__(self, answer: ChatAnswer, running: RunningChat) -> None:
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


def _answer(prepared: PreparedChat, running: RunningChat) -> ChatAnswer:
    return ChatAnswer(
        f"chatcmpl-{running.window_id.hex if running.window_id else 0}",
        prepared.request.language_model,
        prepared.request.tells_usage,
    )


def _name_window(response: HttpResponseBase, running: RunningChat) -> None:
    """Name the record of the window, which the key may read."""
    if running.window_id:
        response[WINDOW] = str(running.window_id)
