"""“What the model saw”: the window record of a reply, with an excerpt of each message's words beside its tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conversations.core.errors import ConversationNotFound
from conversations.core.record import GroundingPassage, LeftOutReason, WindowEntry, WindowRecord
from conversations.models import Completion, Conversation, Message

from .thread import latest_completion

EXCERPT_CHARACTERS = 160
LEFT_OUT_BECAUSE: Mapping[LeftOutReason, str] = {
    "does_not_fit": "did not fit",
    "oversized": "too large, passed over",
    "excluded": "excluded",
    "empty": "nothing in it",
    "incomplete_tool_turn": "a tool call without its result",
    "policy": "kept out by the policy",
}


@dataclass(frozen=True, slots=True)
class WindowRow:
    """One message of the prompt, with the beginning of its words and its part of the budget, 0 to 1."""

    entry: WindowEntry
    excerpt: str
    share: float


@dataclass(frozen=True, slots=True)
class LeftOutRow:
    position: int
    tokens: int
    reason: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A passage that was looked up; *state* is `sent`, `cut` or `left out`. Its words are the message's own."""

    passage: GroundingPassage
    state: str
    source: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class WindowView:
    """Everything that the page tells about one reply's window."""

    reply: Message
    completion: Completion
    attempts: list[Completion]
    record: WindowRecord
    rows: list[WindowRow]
    left_out: list[LeftOutRow]
    passages: list[PassageRow]

    @property
    def free_tokens(self) -> int:
        return self.record.budget_tokens - self.record.prompt_tokens

    @property
    def used_share(self) -> float:
        return self.record.prompt_tokens / self.record.budget_tokens if self.record.budget_tokens else 1.0

    @property
    def estimate_error(self) -> int | None:
        """Reported minus estimated input tokens, or None where the provider reported nothing."""
        if self.completion.input_tokens is None or self.completion.usage_estimated:
            return None
        return self.completion.input_tokens - self.completion.estimated_input_tokens


def window_of(conversation: Conversation, reply: Message) -> WindowView:
    """Return the window of *reply*. Raises `ConversationNotFound` if nothing was sent for it."""
    attempts = list(reply.completions.order_by("id"))
    if not attempts:
        raise ConversationNotFound
    completion = attempts[-1]
    record = WindowRecord.from_json(completion.window)
    words = _words(conversation, record)
    return WindowView(
        reply=reply,
        completion=completion,
        attempts=attempts,
        record=record,
        rows=[_row(entry, record, words) for entry in record.entries],
        left_out=[
            LeftOutRow(out.position, out.tokens, LEFT_OUT_BECAUSE[out.reason], _excerpt(words.get(out.message, "")))
            for out in record.left_out
        ],
        passages=_passages(reply.answered_message, record),
    )


def _words(conversation: Conversation, record: WindowRecord) -> dict[int | None, str]:
    named = [piece.message for piece in (*record.entries, *record.left_out) if piece.message is not None]
    return dict(conversation.messages.filter(pk__in=named).values_list("pk", "content"))


def _row(entry: WindowEntry, record: WindowRecord, words: Mapping[int | None, str]) -> WindowRow:
    share = entry.tokens / record.budget_tokens if record.budget_tokens else 0.0
    return WindowRow(entry, _excerpt(words.get(entry.message, "")), share)


def _passages(newest: Message, record: WindowRecord) -> list[PassageRow]:
    included, left_out = record.grounding.included, record.grounding.left_out
    return [
        *(_passage(newest, passage, "sent" if passage.cut_to is None else "cut") for passage in included),
        *(_passage(newest, passage, "left out") for passage in left_out),
    ]


def _passage(newest: Message, passage: GroundingPassage, state: str) -> PassageRow:
    words = newest.grounding[passage.number - 1]
    return PassageRow(passage, state, words.get("source", ""), _excerpt(words["text"]))


def _excerpt(content: str) -> str:
    line = " ".join(content[: 2 * EXCERPT_CHARACTERS].split())
    return line if len(line) <= EXCERPT_CHARACTERS else line[:EXCERPT_CHARACTERS] + "…"


def first_seen_position(conversation: Conversation) -> int:
    """Return the oldest position that the language model saw for the newest reply; 0 before there is one."""
    completion = latest_completion(conversation)
    return completion.window["first_position"] if completion else 0
