"""The sources of a reply: what was looked up for its question, and what of it the language model was sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from conversations.core.errors import ConversationNotFound
from conversations.core.window.window_record import GroundingPassage, GroundingRecord
from conversations.models import Conversation, Message

StoredGrounding = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """A passage that was looked up. *place* is what a reply cites it by, or None where it was left out.

    *sent* are its words as they were sent, or all of them where none were; *cut_off* those that followed. Both are
    blank once its document *is_deleted*. *document_place* says where that was when it was found: `folder`, `scenario`,
    or blank for the conversation. One from the web has the *url* of its page, http or https.
    """

    place: int | None
    source: str
    sent: str
    cut_off: str
    is_deleted: bool
    url: str = ""
    document_place: str = ""

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    @property
    def state(self) -> Literal["sent", "cut", "left out"]:
        if self.place is None:
            return "left out"
        return "cut" if self.cut_off else "sent"


@dataclass(frozen=True, slots=True)
class Sources:
    """The passages that were looked up for *reply*, by the last request that was made for it."""

    reply: Message
    record: GroundingRecord
    passages: list[SourcePassage]


def sources_of_reply(reply: Message) -> Sources:
    """Return the sources of *reply*. Raises `ConversationNotFound` if no request was made for it."""
    last = reply.completions.order_by("-id").values_list("window__grounding").first()
    if last is None:
        raise ConversationNotFound
    record = grounding_record(last[0])
    return Sources(reply, record, source_passages(record, reply.answered_message.grounding))


def grounding_record(stored: Mapping[str, Any] | None) -> GroundingRecord:
    """Return the part of a stored window record that tells of grounding; there are requests without one."""
    return GroundingRecord.from_json(stored) if stored else GroundingRecord()


def source_passages(record: GroundingRecord, stored: StoredGrounding) -> list[SourcePassage]:
    """Return the passages of *record*, best first, with their words from what is *stored* with the question."""
    included = [_passage(passage, stored, place) for place, passage in enumerate(record.included, start=1)]
    return included + [_passage(passage, stored, None) for passage in record.left_out]


def question_at(conversation: Conversation, position: int) -> str:
    """Return what a user asked at *position*. Raises `ConversationNotFound` if they asked nothing there."""
    asked = conversation.messages.filter(active=True, position=position, role="user")
    content = asked.values_list("content", flat=True).first()
    if content is None:
        raise ConversationNotFound
    return content


def _passage(passage: GroundingPassage, stored: StoredGrounding, place: int | None) -> SourcePassage:
    """A deletion takes the words of a document out of every message, and leaves their places."""
    words = stored[passage.number - 1]
    text: str = words.get("text", "")
    end = len(text) if passage.truncated_to is None else passage.truncated_to
    return SourcePassage(
        place=place,
        source=words.get("source", ""),
        sent=text[:end],
        cut_off=text[end:],
        is_deleted=not text,
        url=url if (url := words.get("url", "")).startswith(("http://", "https://")) else "",
        document_place=words.get("place", ""),
    )
