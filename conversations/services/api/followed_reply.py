"""Follow a reply for a program while a worker makes it: hear its frames, and read its row where some may be missed.

The row is read where a frame was missed, at the end, and a few times a second where no frames can be heard.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
import uuid
from dataclasses import dataclass
from functools import partial

from django.db.models import Q, Sum

from conversations.core.errors import (
    ConversationError,
    ConversationNotFound,
    ReplyStopped,
)
from conversations.core.errors.stored_errors import restore_error
from conversations.core.frames.definitions import ReplyDelta, ReplyDone, ReplyFailed, ReplyHtml, ReplyReasoning
from conversations.core.prompt.messages import PromptToolCall
from conversations.core.text.received_text import ReceivedText
from conversations.live.database_retries import retry_while_database_down
from conversations.live.fanout import conversation_topic
from conversations.live.heard_topic import HeardTopic
from conversations.models import Completion, Message
from conversations.models.message import MessageState
from conversations.providers.openai_api.completion_stream import ToolCallDelta
from conversations.services.replies.step_progress import StepProgress
from conversations.services.replies.stop_reply import stop_reply

from .ask_conversation import AskedReply
from .completed_chat import ChatUsage, CompletedChat
from .event_queue import AnswerPiece, Event, Failed
from .watched_answer import WatchedAnswer

logger = logging.getLogger(__name__)
LOOK_SECONDS = 0.25  # between two times that the row is read, at least, and where no frame can be heard
RARE_LOOK_SECONDS = 2.0  # the same where frames are heard, in case that one was lost
BETWEEN_STEPS = "\n\n"


class FollowedReply(WatchedAnswer):
    """A reply as it is read by a program: the same events as those of a `RunningChat`.

    Its text comes by the frames of the conversation, by their offsets in the text of a step, as a page takes them.
    Closing it ends nothing but the reading; a key that is revoked stops the reply.
    """

    def __init__(self, asked: AskedReply) -> None:
        super().__init__()
        self.is_sent_again = asked.is_sent_again
        self._asked = asked
        self._sent = ""
        self._sent_reasoning = 0
        self._step = 0  # that the newest frames are of; 0 before the first
        self._step_length: int | None = None  # what was sent of the text of that step; None until the row says it
        self._early: list[tuple[int, str]] = []  # text of that step, by its place, that has come before what it follows
        self._has_ended = False
        self._woken = asyncio.Event()
        self._heard = HeardTopic(conversation_topic(asked.conversation.public_id), self._hear)
        self.begin(self._follow(), asked.key.pk, name="follow a reply")

    def revoke(self) -> None:
        super().revoke()
        self._stopping = asyncio.create_task(self._stop())

    async def _stop(self) -> None:
        asked = self._asked
        await retry_while_database_down(partial(stop_reply, conversation=asked.conversation, reply_id=asked.reply_id))

    async def _follow(self) -> None:
        self._heard.start()
        try:
            while not await self._look():
                await self._wait()
        except ConversationError as error:
            self.put(Failed(error))
        except Exception:
            logger.exception("a reply could not be read for a program")
            self.put(Failed(ConversationError()))
        finally:
            self._heard.stop()

    async def _wait(self) -> None:
        """Wait until the row is worth another look."""
        began = time.monotonic()
        seconds = RARE_LOOK_SECONDS if self._heard.hears and not self._has_ended else LOOK_SECONDS
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), seconds)
        if not self._has_ended and (rest := LOOK_SECONDS - (time.monotonic() - began)) > 0:
            await asyncio.sleep(rest)

    def _hear(self, payload: str) -> None:
        """Take a frame of the conversation: text at its place, or a reason to look at the row."""
        frame = json.loads(payload)
        if frame.get("reply") != self._asked.reply_id or frame["type"] == ReplyHtml.type:
            return
        kind = frame["type"]
        if kind == ReplyDelta.type and self._take(frame["step"], frame["at"], frame["text"]):
            return
        if kind not in (ReplyDelta.type, ReplyReasoning.type):  # its text may begin again
            self._step_length, self._early = None, []
        self._has_ended |= kind in (ReplyDone.type, ReplyFailed.type)
        self._woken.set()

    def _take(self, step: int, at: int, text: str) -> bool:
        """Send what is new of the *text* of a step, or keep it where what stands before it is not known: then False.

        The row lags what is heard by up to the time between two times that it is saved.
        """
        if step != self._step:
            self._step, self._step_length, self._early = step, None, []
        length = self._step_length
        if length is None or at > length:
            self._early.append((at, text))
            return False
        if fresh := text[length - at :]:
            added = (BETWEEN_STEPS if self._sent and not length else "") + fresh
            self._sent, self._step_length = self._sent + added, length + len(fresh)
            self.put(AnswerPiece(added))
        return True

    async def _look(self) -> bool:
        """Read what has been added; return whether it has ended."""
        self._woken.clear()
        step = self._step
        reading = await retry_while_database_down(partial(read_reply, self._asked))
        self.window_id = self.window_id or reading.window_id
        if reading.text.startswith(self._sent):
            added, self._sent = reading.text[len(self._sent) :], reading.text
            thought = reading.reasoning[self._sent_reasoning :]
            self._sent_reasoning = max(self._sent_reasoning, len(reading.reasoning))
            if added or thought:
                self.put(AnswerPiece(added, thought))
            if self.window_id and step == self._step:
                self._step_length = reading.step_length
                early, self._early = self._early, []
                for at, text in early:
                    self._take(step, at, text)
        if reading.end is not None:
            self.put(reading.end)
        return reading.end is not None


@dataclass(frozen=True, slots=True)
class ReplySoFar:
    """A reply as far as it is stored, and how it ended, if it has; *step_length* is that of its current step's text."""

    text: str
    step_length: int
    reasoning: str
    window_id: uuid.UUID | None
    end: Event | None


def read_reply(asked: AskedReply) -> ReplySoFar:
    """Read a reply with its steps, as far as it is stored. Raises `ConversationNotFound` once it is deleted."""
    # A step that was asked for by itself, and answered by the program, is another response.
    is_of_it = Q(pk=asked.reply_id) | Q(step_of=asked.reply_id, role="assistant", run=None)
    rows = list(Message.objects.filter(is_of_it).order_by("position"))
    if not rows or rows[-1].pk != asked.reply_id:
        raise ConversationNotFound
    reply = rows[-1]
    text = BETWEEN_STEPS.join(row.content for row in rows if row.content)
    reasoning = BETWEEN_STEPS.join(row.reasoning for row in rows if row.reasoning)
    window_id = (
        Completion.objects.filter(reply=reply, window__isnull=False)
        .order_by("pk")
        .values_list("opening_key", flat=True)
        .first()
    )
    end = None if reply.state == MessageState.STREAMING else _end_of(reply, text, reasoning, window_id)
    return ReplySoFar(text, len(reply.content), reasoning, window_id, end)


def _end_of(reply: Message, text: str, reasoning: str, window_id: uuid.UUID | None) -> Event:
    if reply.state == MessageState.STOPPED:  # no finish reason says that the answer is not whole
        return Failed(ReplyStopped())
    if reply.state in (MessageState.FAILED, MessageState.INTERRUPTED):
        return Failed(restore_error(reply.error_code, reply.error_params))
    rows = Completion.objects.filter(reply=reply)
    last = rows.order_by("-pk").first()
    sums = rows.aggregate(
        *map(Sum, ("input_tokens", "output_tokens", "cached_input_tokens", "reasoning_tokens", "cost_usd"))
    )
    usage = ChatUsage(
        input_tokens=sums["input_tokens__sum"] or 0,
        output_tokens=sums["output_tokens__sum"] or 0,
        cached_input_tokens=sums["cached_input_tokens__sum"],
        reasoning_tokens=sums["reasoning_tokens__sum"],
        estimated=rows.filter(usage_estimated=True).exists(),
        cost_usd=sums["cost_usd__sum"],
        window_id=window_id or uuid.UUID(int=0),
    )
    progress = StepProgress(text=ReceivedText(text), thoughts=ReceivedText(reasoning))
    for index, call in enumerate(map(PromptToolCall.from_json, reply.tool_calls)):
        progress.add_call(ToolCallDelta(index, call.id, call.name, call.arguments))
    return CompletedChat(progress, usage, last.finish_reason if last and last.finish_reason else "stop")
