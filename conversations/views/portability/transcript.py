"""A transcript: the messages of a thread as they are read elsewhere, without anything that can be done with them.

Exported pages and shared pages draw the same articles from it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from conversations.models.message import MessageRole, MessageState
from conversations.rendering import render_markdown
from conversations.selectors.conversations.thread import ThreadMessage
from conversations.selectors.conversations.whole_thread import (
    calls_of,
    reasoning_seconds,
    written_reasoning,
    written_text,
)
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
class TranscriptSource:
    """What a reply was sent passages of, by its name; *text* is the passage where it is shown."""

    name: str
    text: str = ""


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
    sources: Sequence[TranscriptSource] = ()
    hidden_pictures: int = 0
    window: str = ""

    @property
    def is_reply(self) -> bool:
        return self.role == MessageRole.ASSISTANT


def state_note(*, state: str, finish_reason: str = "") -> str:
    """Return why a reply is not whole, in the language that is active, without its numbers; nothing where it is."""
    notes = {
        MessageState.STREAMING: _("This reply was still being written."),
        MessageState.STOPPED: _("This reply was stopped."),
        MessageState.INTERRUPTED: _("This reply was interrupted."),
        MessageState.FAILED: _("This reply failed."),
    }
    return notes.get(MessageState(state), "") or finish_note(finish_reason)


def note_of(message: ThreadMessage) -> str:
    finish_reason = message.completion.finish_reason if message.completion else ""
    return state_note(state=message.state, finish_reason=finish_reason)


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
        sources=[TranscriptSource(name) for name in sources],
    )
