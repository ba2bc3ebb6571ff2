"""“What the model saw”: a window record, with the beginning of each message's content beside its tokens."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.db.models.functions import Left

from chatsite.postgres.compiled_queryset import compiled_queryset
from conversations.core.errors import ConversationNotFound
from conversations.core.prompt.continuation import CONTINUE_REQUEST
from conversations.core.prompt.messages import PromptToolCall
from conversations.core.prompt.system_text import SystemTexts, split_system_text
from conversations.core.prompt.written_prompt import tool_names
from conversations.core.window.window_record import LeftOutMessage, WindowEntry, WindowRecord
from conversations.models import Completion, Conversation, Message, Summary

from .recalled import RecalledView, view_recalled
from .sources import SourcePassage, StoredGrounding, source_passages

EXCERPT_CHARACTERS = 160


class _StoredWords(NamedTuple):
    """The beginning of a stored message, or of the calls in it; *article* is the message that pages show it with."""

    excerpt: str
    calls_tools: bool
    article: int


@dataclass(frozen=True, slots=True)
class WindowRow:
    """One message of the prompt, with the beginning of its words, or of the calls that it has instead.

    *article* is the message that pages show it with: a step with its reply.
    """

    entry: WindowEntry
    excerpt: str
    calls_tools: bool = False
    article: int | None = None

    @property
    def is_unwritten(self) -> bool:
        """Whether it stands for a draft in which nothing is written yet."""
        return self.entry.kind == "newest" and not self.excerpt and not self.entry.pictures


@dataclass(frozen=True, slots=True)
class LeftOutRow:
    """A message that was looked at and not sent."""

    message: LeftOutMessage
    excerpt: str


@dataclass(frozen=True, slots=True)
class WindowView:
    """Everything that the page tells about one window, sent or not; *tools* are the names of those that go with it.

    *summary* is the version in it, None where there was none or it is not stored any more.
    """

    record: WindowRecord
    rows: list[WindowRow]
    left_out: list[LeftOutRow]
    passages: list[SourcePassage]
    recalled: RecalledView
    tools: Sequence[str] = ()
    summary: Summary | None = None

    @property
    def messages_in_view(self) -> int:
        """How many messages of people and of the language model are in it; calls of tools are none."""
        rows = [row for row in self.rows if not row.is_unwritten]
        return sum(row.entry.role in ("user", "assistant") and not row.calls_tools for row in rows)

    @property
    def moved_by(self) -> int:
        """How many messages further on than the one before it this window begins; below 0 if further back.

        Without an anchor the one before it began with the conversation.
        """
        return self.record.first_position - (self.record.anchor or 0)


class SentNumber(NamedTuple):
    """A request by its *number* from 1. *is_again* if it was for the same step as the one before it."""

    number: int
    step: int
    is_again: bool


@dataclass(frozen=True, slots=True)
class SentWindow:
    """The window of one request made for *reply*: *number* from 1, of all its *completions*."""

    reply: Message
    completion: Completion
    number: int
    completions: list[Completion]
    view: WindowView

    @property
    def steps(self) -> int:
        """How many steps the reply has taken so far; requests that were made again count once."""
        return max(completion.step for completion in self.completions)

    @property
    def numbers(self) -> list[SentNumber]:
        """All requests for the reply, in turn."""
        steps = [completion.step for completion in self.completions]
        return [
            SentNumber(number, step, number > 1 and steps[number - 2] == step)
            for number, step in enumerate(steps, start=1)
        ]

    @property
    def estimate_error(self) -> int | None:
        """Reported minus estimated input tokens, or None where the provider reported nothing."""
        if self.completion.input_tokens is None or self.completion.usage_estimated:
            return None
        return self.completion.input_tokens - self.completion.estimated_input_tokens


def sent_window(reply: Message, *, number: int | None = None) -> SentWindow:
    """Return the window of request *number* for *reply*, the last one by default.

    Raises `ConversationNotFound` if there was no such request.
    """
    completions = list(reply.completions.select_related("system_prompt", "api_key").order_by("id"))
    number = len(completions) if number is None else number
    if not 1 <= number <= len(completions):
        raise ConversationNotFound
    completion, newest = completions[number - 1], reply.answered_message
    record = _record(completion.window)
    tools = _tools_of(completion)
    system = _system_texts(completion, record)
    view = view_window(record, system=system, grounding=newest.grounding, tools=tools, question=newest.content)
    return SentWindow(reply, completion, number, completions, view)


def _system_texts(completion: Completion, record: WindowRecord) -> SystemTexts:
    """Return the texts of the system message as they were sent."""
    kinds = {entry.kind for entry in record.entries}
    text = completion.system_prompt.text if completion.system_prompt else ""
    return split_system_text(text, has_about_me="about_me" in kinds, has_notes="notes" in kinds)


def _tools_of(completion: Completion) -> list[str]:
    return tool_names(json.loads(completion.tool_schemas.text)) if completion.tool_schemas else []


def view_window(
    record: WindowRecord,
    *,
    system: SystemTexts,
    question: str,
    grounding: StoredGrounding = (),
    tools: Sequence[str] = (),
) -> WindowView:
    """Return *record* with words: *grounding* is what was looked up for the newest message, the *question*."""
    words = _words(record)
    summary = _sent_summary(record)
    unstored = {
        "system": excerpt(system.system_prompt),
        "about_me": excerpt(system.about_me),
        "notes": excerpt(system.notes),
        "newest": excerpt(question),
        "summary": excerpt(summary.text) if summary else "",
        "continue_request": excerpt(CONTINUE_REQUEST),
    }
    rows = [
        WindowRow(entry, *words[entry.message])
        if entry.message in words
        else WindowRow(entry, unstored.get(entry.kind, ""))
        for entry in record.entries
    ]
    left_out = [LeftOutRow(out, words[out.message].excerpt if out.message in words else "") for out in record.left_out]
    passages = source_passages(record.grounding, grounding)
    recalled = view_recalled(record.recall, question=question)
    return WindowView(record, rows, left_out, passages, recalled, tools, summary)


def _sent_summary(record: WindowRecord) -> Summary | None:
    """Return the version that was sent; None where none was, or it has been deleted: only so many are kept."""
    if record.summary is None or not record.summary.tokens:
        return None
    return Summary.objects.filter(pk=record.summary.id).first()


def last_window(conversation: Conversation) -> WindowRecord | None:
    """Return what the language model saw for the newest reply, if there is one."""
    found = _windows_of_newest.all(conversation.pk)
    return _record(found[0]) if found else None


@compiled_queryset
def _windows_of_newest(conversation_id: int) -> QuerySet[Completion, dict[str, Any] | None]:
    """Return the window of the newest request made for an active reply, or for a step to it."""
    of_replies = Completion.objects.filter(purpose__in=("reply", "tool_step"), reply__active=True)
    made = of_replies.filter(conversation_id=conversation_id)
    return made.order_by("-id").values_list("window", flat=True)[:1]


def _record(window: dict[str, Any] | None) -> WindowRecord:
    if window is None:
        raise ValueError("only completions of replies have a window")
    return WindowRecord.from_json(window)


def _words(record: WindowRecord) -> dict[int | None, _StoredWords]:
    used, unused = (entry.message for entry in record.entries), (left_out.message for left_out in record.left_out)
    named = {message for message in (*used, *unused) if message is not None}
    beginnings = Message.objects.filter(pk__in=named).annotate(beginning=Left("content", 2 * EXCERPT_CHARACTERS))
    rows = beginnings.values_list("pk", "beginning", "tool_calls", "step_of_id")
    return {
        pk: _StoredWords(excerpt(beginning) or _calls(tool_calls), bool(tool_calls), step_of or pk)
        for pk, beginning, tool_calls, step_of in rows
    }


def _calls(tool_calls: list[dict[str, Any]]) -> str:
    return excerpt("; ".join(f"{call.name}({call.arguments})" for call in map(PromptToolCall.from_json, tool_calls)))


def excerpt(content: str) -> str:
    """Return the beginning of *content* on one line."""
    line = " ".join(content[: 2 * EXCERPT_CHARACTERS].split())
    return line if len(line) <= EXCERPT_CHARACTERS else line[:EXCERPT_CHARACTERS] + "…"
