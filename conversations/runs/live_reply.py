"""A reply while it is made: its text in memory, and what of it has not been sent or saved yet."""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from conversations.core.frames import Frame, ReplyDelta, ReplyHtml, ReplyStep, WindowRecorded
from conversations.core.record import WindowRecord
from conversations.fanout import conversation_topic, publish
from conversations.rendering import BlockStream, RenderedBlock


class LiveReply:
    """Collects the text of a reply. All offsets are code points.

    `flush` sends what is new, `unsaved` hands out the whole text if it has grown since `mark_saved`. Of the lines that
    are whole, `render_lines` makes blocks; `send_blocks` sends them.
    """

    def __init__(self, reply_id: int, conversation: uuid.UUID) -> None:
        self.reply_id = reply_id
        self._conversation = conversation
        self._topic = conversation_topic(conversation)
        self._sent: list[str] = []
        self._sent_length = 0
        self._fresh: list[str] = []
        self._saved_length = 0
        self._unrendered: list[str] = []
        self._blocks = BlockStream()
        self._step = 1

    @property
    def text(self) -> str:
        return "".join(self._sent) + "".join(self._fresh)

    def begin_step(self, step: int, text: str) -> None:
        """Begin the text anew, with what is stored of it; what came before is with the calls of the step before."""
        self.flush()
        is_next, self._step = step != self._step, step
        self._sent, self._sent_length, self._saved_length = [text], len(text), len(text)
        self._unrendered, self._blocks = [text], BlockStream()
        if is_next:
            self.show_calls()

    def show_calls(self) -> None:
        """Say that something has become of the calls."""
        self.flush()
        self._publish(ReplyStep(self._conversation, self.reply_id, self._step))

    def record_window(self, record: WindowRecord) -> None:
        """Take the window that is about to be asked with; nothing has come of an earlier one."""
        self._blocks = BlockStream(passages=len(record.grounding.included))
        self._publish(
            WindowRecorded(
                conversation=self._conversation,
                reply=self.reply_id,
                prompt_tokens=record.prompt_tokens,
                budget_tokens=record.budget_tokens,
                first_position=record.first_position,
            )
        )

    def append(self, text: str) -> None:
        self._fresh.append(text)

    def flush(self) -> None:
        """Send the text that came since the last time as one delta."""
        if not self._fresh:
            return
        text = "".join(self._fresh)
        self._fresh.clear()
        self._publish(ReplyDelta(self._conversation, self.reply_id, self._step, self._sent_length, text))
        self._sent.append(text)
        self._sent_length += len(text)
        self._unrendered.append(text)

    @property
    def has_lines(self) -> bool:
        """Whether a line has come to its end: only then can a block be finished."""
        return any("\n" in text for text in self._unrendered)

    def take_lines(self) -> str:
        """Return what has been sent since the last time, to be given to `render`."""
        text = "".join(self._unrendered)
        self._unrendered.clear()
        return text

    def render(self, text: str) -> list[RenderedBlock]:
        """Return the blocks that *text* finishes. May be called in another thread, but only once at a time."""
        return self._blocks.feed(text)

    def send_blocks(self, blocks: Iterable[RenderedBlock]) -> None:
        for block in blocks:
            self._publish(
                ReplyHtml(self._conversation, self.reply_id, self._step, block.start, block.end, str(block.html))
            )

    def unsaved(self) -> str | None:
        """Return the text that has been sent, unless it is saved already."""
        if self._sent_length == self._saved_length:
            return None
        self._sent = ["".join(self._sent)]
        return self._sent[0]

    def mark_saved(self, text: str) -> None:
        if "".join(self._sent).startswith(text):  # a step may have ended while it was being saved
            self._saved_length = len(text)

    def _publish(self, frame: Frame) -> None:
        publish(self._topic, frame.to_json())


def render_lines(lines: Iterable[tuple[LiveReply, str]]) -> list[tuple[LiveReply, list[RenderedBlock]]]:
    """Render the text of several replies."""
    return [(live, live.render(text)) for live, text in lines]
