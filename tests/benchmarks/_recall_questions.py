"""Conversations with questions whose evidence is known, and how much of the evidence a window holds.

FILE is a JSON object: `{"conversations": [{"id", "messages": [{"id", "role", "name", "content", "at"}], "questions":
[{"text", "evidence": [ids of messages], "category", "after"}]}]}`. *after* is the id of the last message before the
question; null: it is asked behind the whole conversation. *at* begins with an ISO date or date and time.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SHORT_WORDS = 75  # a message of at most so many words counts as evidence only whole
SHARE_OF_LONG = 0.5
WORD = re.compile(r"\S+")
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?")
MINUTE = dt.timedelta(minutes=1)
FIRST_DAY = dt.datetime(2026, 1, 1, 9, tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True)
class DatedMessage:
    """A message of the file; *at* is when it was said."""

    id: str
    role: str
    name: str
    content: str
    at: dt.datetime

    @property
    def words(self) -> list[tuple[int, int]]:
        """Where each word begins and ends."""
        return [match.span() for match in WORD.finditer(self.content)]


@dataclass(frozen=True, slots=True)
class EvidenceQuestion:
    """A question asked behind the first *place* messages; *evidence* are the ids of the messages that answer it."""

    text: str
    evidence: tuple[str, ...]
    category: str
    place: int


@dataclass(frozen=True, slots=True)
class AskedConversation:
    """The messages of one conversation, oldest first, and its questions in the order in which they are asked."""

    id: str
    messages: tuple[DatedMessage, ...]
    questions: tuple[EvidenceQuestion, ...]


def read_asked_conversations(path: Path) -> list[AskedConversation]:
    """Return the conversations of a file. Raises `KeyError` or `ValueError` where it has another form."""
    return [_conversation(each) for each in json.loads(path.read_text(encoding="utf-8"))["conversations"]]


def _conversation(stored: Mapping[str, Any]) -> AskedConversation:
    messages = tuple(_messages([each for each in stored["messages"] if each["content"].strip()]))
    places = _places(stored["messages"])
    questions = [_question(each, places, len(messages)) for each in stored["questions"]]
    return AskedConversation(str(stored["id"]), messages, tuple(sorted(questions, key=lambda each: each.place)))


def _places(stored: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many messages there are up to each; one without words is not stored, and can't be imported."""
    places, place = {}, 0
    for message in stored:
        place += bool(message["content"].strip())
        places[str(message["id"])] = place
    return places


def _messages(stored: Sequence[Mapping[str, Any]]) -> Iterator[DatedMessage]:
    """Yield the messages. A time never goes back: many sets name only the day, and then a minute passes for each."""
    at = FIRST_DAY
    for place, message in enumerate(stored):
        said = _time(message.get("at"))
        at = said if said and (place == 0 or said > at) else at + MINUTE
        yield DatedMessage(str(message["id"]), message["role"], message.get("name") or "", message["content"], at)


def _time(text: str | None) -> dt.datetime | None:
    match = DATE.match(text or "")
    if not match:
        return None
    time = dt.datetime.fromisoformat(match[0])
    return time.replace(tzinfo=dt.UTC)


def _question(stored: Mapping[str, Any], places: Mapping[str, int], messages: int) -> EvidenceQuestion:
    after = stored.get("after")
    return EvidenceQuestion(
        text=stored["text"],
        evidence=tuple(map(str, stored["evidence"])),
        category=str(stored.get("category") or ""),
        place=messages if after is None else places[str(after)],
    )


def holds_evidence(message: DatedMessage, spans: Iterable[tuple[int, int]]) -> bool:
    """Tell whether *spans*, in characters of the content, are half of a long message or the whole of a short one."""
    held = list(spans)
    words = message.words
    seen = sum(any(begin <= start and end <= stop for begin, stop in held) for start, end in words)
    return seen == len(words) if len(words) <= SHORT_WORDS else seen >= SHARE_OF_LONG * len(words)
