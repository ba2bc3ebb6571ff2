"""The sources of a reply: what was looked up for its question, and what of it the language model was sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from conversations.core.errors import ConversationNotFound
from conversations.core.window.window_record import GroundingPassage, GroundingRecord
from conversations.models import Conversation, Message
from conversations.wording.error_sentences import Reader, stored_sentence

StoredGrounding = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class SourcesSummary:
    """What one line says of the passages that were *found*: *included* of them were sent, the last perhaps not whole.

    *unread* documents could not be looked in yet. *by_words_because* is the sentence that says why nothing was looked
    for by meaning, *not_by_words_because* why the search by words came to no end; or nothing.
    """

    found: int
    included: int
    documents: int = 0
    unread: int = 0
    by_words_because: str = ""
    not_by_words_because: str = ""

    @property
    def left_out(self) -> int:
        return self.found - self.included

    @property
    def is_mostly_left_out(self) -> bool:
        """Whether a narrower question would have been answered from more of what it asks for."""
        return self.left_out > self.included


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """A passage that was looked up. *place* is what a reply cites it by, or None where it was left out.

    *sent* are its words as they were sent, or all of them where none were; *cut_off* those that followed. Both are
    blank once its document *is_deleted*.
    """

    place: int | None
    source: str
    sent: str
    cut_off: str
    is_deleted: bool

    @property
    def state(self) -> Literal["sent", "cut", "left out"]:
        if self.place is None:
            return "left out"
        return "cut" if self.cut_off else "sent"


@dataclass(frozen=True, slots=True)
class Sources:
    """What was looked up for *reply*, by the last request that was made for it."""

    reply: Message
    summary: SourcesSummary | None
    passages: list[SourcePassage]


def sources_of(reply: Message, *, reader: Reader) -> Sources:
    """Return the sources of *reply*. Raises `ConversationNotFound` if no request was made for it."""
    last = reply.completions.order_by("-id").values_list("window__grounding").first()
    if last is None:
        raise ConversationNotFound
    record = grounding_record(last[0])
    return Sources(reply, summary_of(record, reader), source_passages(record, reply.answered_message.grounding))


def grounding_record(stored: Mapping[str, Any] | None) -> GroundingRecord:
    """Return the part of a stored window record that tells of grounding; there are requests without one."""
    return GroundingRecord.from_json(stored) if stored else GroundingRecord()


def summary_of(record: GroundingRecord, reader: Reader) -> SourcesSummary | None:
    """Return what a line says, or nothing where there was nothing to look in."""
    look_up = record.look_up
    if not look_up:
        return SourcesSummary(record.found, len(record.included)) if record.found else None
    by_words_only, not_by_words = look_up.why_by_words_only, look_up.why_not_by_words
    return SourcesSummary(
        found=record.found,
        included=len(record.included),
        documents=look_up.documents,
        unread=look_up.unread,
        by_words_because=stored_sentence(by_words_only, {}, reader) if by_words_only and not not_by_words else "",
        not_by_words_because=stored_sentence(not_by_words, {}, reader) if not_by_words else "",
    )


def source_passages(record: GroundingRecord, stored: StoredGrounding) -> list[SourcePassage]:
    """Return the passages of *record*, best first, with their words from what is *stored* with the question."""
    included = [_passage(passage, stored, place) for place, passage in enumerate(record.included, start=1)]
    return included + [_passage(passage, stored, None) for passage in record.left_out]


def question_at(conversation: Conversation, position: int) -> str:
    """Return what a person asked at *position*. Raises `ConversationNotFound` if they asked nothing there."""
    asked = conversation.messages.filter(active=True, position=position, role="user")
    content = asked.values_list("content", flat=True).first()
    if content is None:
        raise ConversationNotFound
    return content


def _passage(passage: GroundingPassage, stored: StoredGrounding, place: int | None) -> SourcePassage:
    """A deletion takes the words of a document out of every message, and leaves their places."""
    words = stored[passage.number - 1]
    text: str = words.get("text", "")
    end = len(text) if passage.cut_to is None else passage.cut_to
    return SourcePassage(
        place=place, source=words.get("source", ""), sent=text[:end], cut_off=text[end:], is_deleted=not text
    )
