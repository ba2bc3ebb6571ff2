"""An answer as a stream of server-sent events: its pieces as they come, comments while none does, and how it ended."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from django.http import StreamingHttpResponse

from conversations.core.errors import ConversationError
from conversations.services.api.completed_chat import CompletedChat
from conversations.services.api.event_queue import AnswerPiece, EventQueue, Failed

from .chat_answers import KEEP_ALIVE

# A stream waits so long for the first word, so that what fails before it has a status of its own.
FIRST_WORD_SECONDS = 15.0


class StreamForm(Protocol):
    """How an interface writes the events of a stream."""

    def first(self) -> bytes: ...
    def piece(self, said: AnswerPiece) -> bytes: ...
    def last(self, completed: CompletedChat) -> bytes: ...
    def failure(self, error: ConversationError) -> bytes: ...


async def wait_for_first_word(running: EventQueue) -> None:
    """Wait for the first word, or a while; what fails before is raised as an ordinary refusal."""
    try:
        await running.wait(FIRST_WORD_SECONDS)
        if isinstance(event := running.waiting, Failed):
            raise event.error
    except BaseException:
        await running.close()
        raise
    running.note_begun()


def stream_answer(form: StreamForm, running: EventQueue) -> StreamingHttpResponse:
    response = StreamingHttpResponse(AnswerStream(form, running), content_type="text/event-stream; charset=utf-8")
    response["X-Accel-Buffering"] = "no"
    return response


class AnswerStream:
    """The events of a stream. However it ends, what is not stored has ended and is settled."""

    def __init__(self, form: StreamForm, running: EventQueue) -> None:
        self._form = form
        self._running = running

    async def __aiter__(self) -> AsyncIterator[bytes]:
        form, running = self._form, self._running
        try:
            yield form.first()
            while True:
                while not await running.wait(FIRST_WORD_SECONDS):
                    yield KEEP_ALIVE
                event = await running.next()
                if not isinstance(event, AnswerPiece):
                    break
                yield form.piece(event)
            yield form.last(event) if isinstance(event, CompletedChat) else form.failure(event.error)
        finally:
            await running.close()

    def close(self) -> None:
        """Called by Django at the end of a response, also of one that was never read."""
        self._running.close_soon()
