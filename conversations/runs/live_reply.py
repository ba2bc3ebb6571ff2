"""A reply while it is streamed: its text and reasoning in memory, and what of them has not been sent or saved."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from conversations.core.frames.definitions import (
    ReplyDelta,
    ReplyHtml,
    ReplyReasoning,
    ReplyRestarted,
    ReplySearching,
    ReplyStep,
    WindowRecorded,
)
from conversations.core.frames.frame import Frame
from conversations.core.text.received_text import ReceivedText
from conversations.core.window.window_record import WindowRecord
from conversations.live.fanout import conversation_topic, publish
from conversations.rendering import BlockStream, RenderedBlock
from conversations.services.replies.reasoning import NO_REASONING, Reasoning

from .live_reasoning import LiveReasoning

Blocks = list[RenderedBlock]
# What comes sooner after a delta waits for the worker's timer. Half of what lies between two turns in which streams are
# read: a busy process reads some of them late, and the next one in time.
SOON_SECONDS = 0.03


@dataclass(frozen=True, slots=True)
class StepText:
    """The text so far of the step that a reply is at; *position* is the reply's during this step.

    *reasoning* is None unless there is more of it than is saved. *taken_from* is the live text that this is a copy of:
    where the text has begun again meanwhile, the reply has another one.
    """

    position: int
    text: str
    reasoning: Reasoning | None = None
    taken_from: ReceivedText | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StepLines:
    """Text of one step to be rendered: it belongs to the *blocks* of that step, whatever the reply is at by then."""

    blocks: BlockStream
    text: str

    def render(self) -> Blocks:
        """Return the blocks that the text finishes. May be called in another thread, but only once at a time."""
        return self.blocks.feed(self.text)


class LiveReply:
    """Collects the text and reasoning of a reply, step by step. Offsets are code points, and start at 0 with each step.

    `flush` sends what is new, `unsaved` hands out the whole text if it has grown since `mark_saved`. Of the lines that
    are whole, `render_lines` makes blocks; `send_blocks` sends them.
    """

    def __init__(
        self,
        reply_id: int,
        conversation: uuid.UUID,
        *,
        position: int,
        text: str = "",
        reasoning: Reasoning = NO_REASONING,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.reply_id = reply_id
        self._conversation = conversation
        self._topic = conversation_topic(conversation)
        self._step = 1
        self._passages = 0  # how many passages the reply may cite
        self._now = now
        self._flushed_at = float("-inf")
        self._begin(position, text, reasoning)

    def _begin(self, position: int, text: str, reasoning: Reasoning) -> None:
        self._position = position
        self._beginning = text  # what was there before, and stays: all that comes is put behind it
        self._sent, self._sent_length, self._saved_length = ReceivedText(text), len(text), len(text)
        self._fresh: list[str] = []
        self._unrendered: list[str] = []
        self._blocks = BlockStream()
        self._reasoning = LiveReasoning(reasoning)

    def _begin_blocks(self) -> None:
        """Render from the beginning of the step's text: blocks are numbered from there. Pages ignore what they have."""
        self._blocks = BlockStream(passages=self._passages)
        self._unrendered = [self._beginning] if self._beginning else []

    @property
    def text(self) -> str:
        return str(self._sent) + "".join(self._fresh)

    @property
    def reasoning(self) -> Reasoning:
        """What has been thought in this step."""
        return self._reasoning.value

    def show_web_search(self, *, lasts: bool) -> None:
        """Tell the pages that the web is searched for the question, or no longer."""
        self._publish(ReplySearching(self._conversation, self.reply_id, lasts))

    def begin_step(self, step: int, *, position: int, text: str, reasoning: Reasoning = NO_REASONING) -> None:
        """Begin the text of a step at the reply's current *position*, with what is stored of it.

        The text before it is stored with the calls of the previous step.
        """
        self.flush()
        self._begin(position, text, reasoning)
        is_next, self._step = step != self._step, step
        if is_next:
            self.show_calls()

    def show_calls(self) -> None:
        """Tell the pages that the calls of the step have changed."""
        self.flush()
        self._publish(ReplyStep(self._conversation, self.reply_id, self._step))

    def record_window(self, record: WindowRecord) -> None:
        """Tell the pages which window is about to be sent. An earlier one of this step has brought no text."""
        self._passages = len(record.grounding.included)
        self._begin_blocks()
        self._publish(
            WindowRecorded(
                conversation=self._conversation,
                reply=self.reply_id,
                prompt_tokens=record.prompt_tokens,
                budget_tokens=record.budget_tokens,
                first_position=record.first_position,
                recalled=record.recall.messages,
                passages=self._passages,
                recalled_positions=record.recall.positions,
            )
        )

    def append(self, text: str) -> None:
        """Take a further piece of text. The first one is sent at once, and each that comes a while after the last."""
        if self._reasoning.lasts:
            self.pause_reasoning()
        self._fresh.append(text)
        if self._sent_length == len(self._beginning) or self._is_flush_due:
            self.flush()

    def take_back_text(self) -> None:
        """Begin the text of the step again where it began: what came so far was thought, and no reply."""
        thought, beginning = self.text[len(self._beginning) :], self._beginning
        self._sent, self._sent_length, self._saved_length = ReceivedText(beginning), len(beginning), -1
        self._fresh.clear()
        self._begin_blocks()
        self._publish(ReplyRestarted(self._conversation, self.reply_id, self._step))
        if beginning:
            self._publish(ReplyDelta(self._conversation, self.reply_id, self._step, 0, beginning))
        self._reasoning.append(thought)
        self.pause_reasoning()

    def append_reasoning(self, text: str) -> None:
        """Take a further piece of what the language model thinks. It is sent as text is."""
        if self._fresh:  # a page shows what came last as going on
            self.flush()
        self._reasoning.append(text)
        if not self._reasoning.is_sent or self._is_flush_due:
            self.flush()

    @property
    def _is_flush_due(self) -> bool:
        return self._now() - self._flushed_at >= SOON_SECONDS

    def pause_reasoning(self) -> None:
        """Stop the clock of the reasoning: text or a tool call has come."""
        self._reasoning.pause()
        self._flush_reasoning()

    def end_attempt(self, *, reasoning_tokens: int | None) -> None:
        """Take what the provider reports of the reasoning of an attempt that has ended, and send what came last.

        The reply may be ended by the transaction that settles the attempt: no delta comes after that.
        """
        self._reasoning.end_attempt(reasoning_tokens)
        self.flush()

    def flush(self) -> None:
        """Send the text that came since the last time as one delta, after the reasoning."""
        self._flush_reasoning()
        if not self._fresh:
            return
        self._flushed_at = self._now()
        text = "".join(self._fresh)
        self._fresh.clear()
        self._publish(ReplyDelta(self._conversation, self.reply_id, self._step, self._sent_length, text))
        self._sent.add(text)
        self._sent_length += len(text)
        self._unrendered.append(text)

    def _flush_reasoning(self) -> None:
        if fresh := self._reasoning.take_fresh():
            self._flushed_at = self._now()
            self._publish(ReplyReasoning(self._conversation, self.reply_id, self._step, fresh.at, fresh.text))

    @property
    def has_lines(self) -> bool:
        """Whether a line has come to its end: only then can a block be finished."""
        return any("\n" in text for text in self._unrendered)

    def take_lines(self) -> StepLines:
        """Return what has been sent since the last time, to be rendered."""
        text = "".join(self._unrendered)
        self._unrendered.clear()
        return StepLines(self._blocks, text)

    def send_blocks(self, lines: StepLines, blocks: Iterable[RenderedBlock]) -> None:
        """Send the *blocks* of *lines*, unless another step has begun since these were taken."""
        if lines.blocks is not self._blocks:
            return
        for block in blocks:
            self._publish(
                ReplyHtml(self._conversation, self.reply_id, self._step, block.start, block.end, str(block.html))
            )

    def unsaved(self) -> StepText | None:
        """Return the text and the reasoning that have been sent, unless both are saved already."""
        reasoning = self._reasoning.unsaved()
        if self._sent_length == self._saved_length and reasoning is None:
            return None
        return StepText(self._position, str(self._sent), reasoning, self._sent)

    def mark_saved(self, saved: StepText) -> None:
        # Unless a step has ended, or the text been taken back, while it was being saved.
        if saved.taken_from is self._sent:
            self._saved_length = len(saved.text)
            if saved.reasoning:
                self._reasoning.mark_saved(saved.reasoning)

    def _publish(self, frame: Frame) -> None:
        publish(self._topic, frame.to_json())


def render_lines(taken: Iterable[tuple[LiveReply, StepLines]]) -> list[tuple[LiveReply, StepLines, Blocks]]:
    """Render the text of several replies."""
    return [(live, lines, lines.render()) for live, lines in taken]
