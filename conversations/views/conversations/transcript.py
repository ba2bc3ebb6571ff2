"""A transcript: the messages of a thread as they are read elsewhere, without anything that can be done with them.

Exported pages and shared pages draw the same articles from it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from conversations.models.message import MessageRole, MessageState
from conversations.rendering import render_markdown
from conversations.selectors.conversations.thread import ThreadMessage
from conversations.selectors.conversations.tool_calls import CallRow
from conversations.wording.error_sentences import ReaderLocale, stored_error_sentence
from conversations.wording.finish_notes import finish_note
from conversations.wording.model_labels import model_label


@dataclass(frozen=True, slots=True)
class TranscriptPicture:
    """A picture at *address*; blank where only its place is told. *width* and *height* are those of its place."""

    address: str
    alt_text: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class TranscriptCall:
    """A call of a tool, as text."""

    tool: str
    arguments: str
    result: str


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """A message by its *number* from 1. *made_by* names the language model of a reply, and *html* is what it says.

    *note* is the sentence that says why a reply is not whole, or empty. *window* is the address of its window record.
    """

    number: int
    role: str
    made_by: str
    created_at: dt.datetime
    html: SafeString
    note: str = ""
    reasoning: str = ""
    reasoning_seconds: float = 0.0
    calls: Sequence[TranscriptCall] = ()
    pictures: Sequence[TranscriptPicture] = ()
    sources: Sequence[str] = ()
    hidden_pictures: int = 0
    window: str = ""

    @property
    def is_reply(self) -> bool:
        return self.role == MessageRole.ASSISTANT


def written_text(message: ThreadMessage) -> str:
    """Return what a person wrote, or the language model in all steps of a reply, as it was written."""
    texts = (*(step.text for step in message.steps.stored), message.content)
    return "\n\n".join(text for text in texts if text.strip())


def written_reasoning(message: ThreadMessage) -> str:
    """Return what pages show of what was thought in all steps of a reply."""
    thoughts = (*(step.reasoning for step in message.steps.stored), message.reasoning)
    return "\n\n".join(thought.text for thought in thoughts if thought)


def reasoning_seconds(message: ThreadMessage) -> float:
    thoughts = (*(step.reasoning for step in message.steps.stored), message.reasoning)
    return sum(thought.seconds for thought in thoughts if thought)


def calls_of(message: ThreadMessage) -> list[CallRow]:
    return [*(call for step in message.steps.stored for call in step.calls), *message.steps.calls]


def state_note(*, state: str, error_code: str, error_params: dict[str, object], finish_reason: str) -> str:
    """Return why a reply is not whole, in the language that is active; nothing where it is."""
    if state == MessageState.STREAMING:
        return gettext("This reply was still being written.")
    if error_code:
        return stored_error_sentence(error_code, error_params, ReaderLocale(get_language() or settings.LANGUAGE_CODE))
    if state == MessageState.STOPPED:
        return gettext("This reply was stopped.")
    return finish_note(finish_reason) if state == MessageState.COMPLETE else ""


def note_of(message: ThreadMessage) -> str:
    finish_reason = message.completion.finish_reason if message.completion else ""
    return state_note(
        state=message.state,
        error_code=message.error_code,
        error_params=message.error_params,
        finish_reason=finish_reason,
    )


def own_message(
    number: int, message: ThreadMessage, *, sources: Sequence[str], pictures: Sequence[TranscriptPicture]
) -> TranscriptMessage:
    """Return a message of one's own thread with all that pages show of it."""
    return TranscriptMessage(
        number=number,
        role=message.role,
        made_by=model_label(message.made_by) if message.made_by else "",
        created_at=message.created_at,
        html=render_markdown(written_text(message)),
        note=note_of(message),
        reasoning=written_reasoning(message),
        reasoning_seconds=reasoning_seconds(message),
        calls=[TranscriptCall(call.tool, call.arguments, call.result) for call in calls_of(message)],
        pictures=pictures,
        sources=sources,
    )
