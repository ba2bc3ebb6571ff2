"""An answer that another request has asked for, read by the same request sent again: whole, or as it comes.

It may be made by another process. PostgreSQL has what was said so far a few times a second, once someone has joined.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from dataclasses import dataclass
from functools import partial

from conversations.core.errors import AnswerInterrupted, AnswerNotKept, ConversationError
from conversations.live.database_retries import retry_while_database_down
from conversations.live.database_threads import in_thread

from .completed_chat import CompletedChat
from .event_queue import AnswerPiece, Event, EventQueue, Failed
from .idempotent_requests import Idempotency, read_answer, want_answer
from .kept_answer import read_end
from .running_chats import running_chats
from .watched_answer import WatchedAnswer

logger = logging.getLogger(__name__)
LOOK_SECONDS = 0.3
WANT_SECONDS = 4.0


async def follow_answer(queue: EventQueue, first_id: uuid.UUID, asked_for: bytes) -> None:
    """Put what the request *first_id* is answered with into *queue*, until it has ended."""
    running_chats().tell_joined(first_id)
    sent, thought, wanted_at = "", "", time.monotonic()
    while True:
        found = await retry_while_database_down(partial(read_answer, first_id, asked_for), in_thread=in_thread)
        if found is None:
            queue.put(Failed(AnswerNotKept()))
            return
        queue.window_id = found.window_id
        text, thoughts = found.said.get("text", ""), found.said.get("thoughts", "")
        if text.startswith(sent) and thoughts.startswith(thought):
            if len(text) > len(sent) or len(thoughts) > len(thought):
                queue.put(AnswerPiece(text[len(sent) :], thoughts[len(thought) :]))
            sent, thought = text, thoughts
        if found.has_ended or not found.is_made:
            queue.put(_end_of(read_end(found.said)) if found.has_ended else Failed(AnswerInterrupted()))
            return
        if time.monotonic() - wanted_at > WANT_SECONDS:
            await retry_while_database_down(partial(want_answer, first_id), in_thread=in_thread)
            wanted_at = time.monotonic()
        await asyncio.sleep(LOOK_SECONDS)


def _end_of(end: CompletedChat | ConversationError) -> Event:
    return Failed(end) if isinstance(end, ConversationError) else end


@dataclass(frozen=True, slots=True)
class JoinedRequest:
    """A request that was stored before, as *first_id*."""

    request: Idempotency
    first_id: uuid.UUID


class JoinedChat(WatchedAnswer):
    """The answer to the same request, which was stored before. Closing it ends the reading alone."""

    def __init__(self, joined: JoinedRequest) -> None:
        super().__init__()
        self.is_sent_again = True
        following = self._follow(joined.first_id, joined.request.asked_for)
        self.begin(following, joined.request.key.pk, name="follow an answer")

    async def _follow(self, first_id: uuid.UUID, asked_for: bytes) -> None:
        try:
            await follow_answer(self, first_id, asked_for)
        except Exception:
            logger.exception("an answer could not be read for a program")
            self.put(Failed(ConversationError()))
