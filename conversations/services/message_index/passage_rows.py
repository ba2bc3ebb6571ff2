"""Turn messages into rows of the index: split, counted, numbered, with the sums until each of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from conversations.core.recall.first_person import count_first_person_words
from conversations.core.recall.sessions import SessionPlace, is_greeting, next_place
from conversations.core.recall.split_message import split_message
from conversations.core.window.budget import CountText
from conversations.grounding.recall.lexeme_counts import LexemeCounts
from conversations.grounding.recall.stored_postings import IndexedPassage
from conversations.models import MessagePassage

QUESTION_MARKS = ("?", "？")
ROLES = ("user", "assistant")


class ReadMessage(NamedTuple):
    """A message of the active path, as the index reads it."""

    id: int
    position: int
    role: str
    state: str
    is_tool_step: bool
    content: str
    content_tokens: int
    encoding: str
    created_at: dt.datetime

    @property
    def is_indexed(self) -> bool:
        """Whether it can be recalled: not what tools said, and not what is left of a reply that failed."""
        return self.role in ROLES and not self.is_tool_step and self.state != "failed"


class SumsUntil(NamedTuple):
    """Running totals up to and including a passage: of its session, of the conversation, and of the two roles."""

    session_tokens: int = 0
    session_words: int = 0
    words: int = 0
    user_messages: int = 0
    user_tokens: int = 0
    assistant_messages: int = 0
    assistant_tokens: int = 0

    def add(self, row: PassageDraft, place: SessionPlace, words: int, *, begins_session: bool) -> Self:
        begins = row.number == 0
        sums = self._replace(
            session_tokens=place.tokens,
            session_words=words + (0 if begins_session else self.session_words),
            words=self.words + words,
        )
        if row.message.role == "user":
            return sums._replace(user_messages=self.user_messages + begins, user_tokens=self.user_tokens + row.tokens)
        return sums._replace(
            assistant_messages=self.assistant_messages + begins,
            assistant_tokens=self.assistant_tokens + row.tokens,
        )


class PassageDraft(NamedTuple):
    """A passage of *message* before its lexemes are known."""

    message: ReadMessage
    number: int
    passages_in_message: int
    start: int
    end: int
    text: str
    tokens: int
    first_person_words: int
    is_question: bool


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A passage as it is stored."""

    draft: PassageDraft
    ordinal: int
    place: SessionPlace
    lexemes: LexemeCounts
    sums: SumsUntil
    begins_session: bool

    @property
    def indexed(self) -> IndexedPassage:
        """Return it as it is posted."""
        return IndexedPassage(
            self.ordinal, self.lexemes.words, self.lexemes.counts, self.draft.number == 0, self.begins_session
        )

    @property
    def columns(self) -> tuple[Any, ...]:
        """Return the values of `COLUMNS`."""
        draft, message = self.draft, self.draft.message
        return (
            message.id, self.ordinal, message.position, message.role, message.created_at,
            draft.number, draft.passages_in_message, self.place.session, self.place.place,
            draft.start, draft.end, draft.tokens, self.lexemes.words,
            draft.first_person_words, draft.is_question, self.lexemes.tsvector,
            *self.sums,
        )  # fmt: skip


COLUMNS = (
    "message_id", "ordinal", "position", "role", "at",
    "number", "passages_in_message", "session", "place",
    "start", '"end"', "tokens", "words", "first_person_words", "is_question", "search",
    "until_session_tokens", "until_session_words", "until_words", "until_user_messages", "until_user_tokens",
    "until_assistant_messages", "until_assistant_tokens",
)  # fmt: skip


def draft_passages(messages: Sequence[ReadMessage], *, encoding: str, count_text: CountText) -> list[PassageDraft]:
    """Split *messages* into passages, counted in *encoding*."""
    return [
        draft
        for message in messages
        if message.is_indexed
        for draft in _drafts(message, encoding=encoding, count_text=count_text)
    ]


def make_rows(
    drafts: Sequence[PassageDraft], lexemes: Sequence[LexemeCounts], *, last: MessagePassage | None
) -> list[PassageRow]:
    """Return the rows of *drafts* with their *lexemes*, which follow the passage that is the *last* one so far."""
    ordinal = last.ordinal + 1 if last else 0
    place, sums = _place_of(last), _sums_until(last)
    before = place
    tokens = _tokens_by_message(drafts)
    rows: list[PassageRow] = []
    for offset, (draft, counted) in enumerate(zip(drafts, lexemes, strict=True)):
        message = draft.message
        if draft.number == 0 or place is None:
            before = place
            place = next_place(
                place,
                tokens=tokens[message.id],
                at=message.created_at,
                is_greeting=is_greeting(message.role, message.content),
            )
        begins_session = draft.number == 0 and (before is None or before.session != place.session)
        sums = sums.add(draft, place, counted.words, begins_session=begins_session)
        rows.append(PassageRow(draft, ordinal + offset, place, counted, sums, begins_session))
    return rows


def _drafts(message: ReadMessage, *, encoding: str, count_text: CountText) -> Iterator[PassageDraft]:
    spans = split_message(message.content)
    first_person_words = count_first_person_words(message.content)
    is_question = message.content.rstrip().endswith(QUESTION_MARKS)
    for number, span in enumerate(spans):
        text = message.content[span.start : span.end]
        counted = len(spans) == 1 and message.encoding == encoding and len(text) == len(message.content)
        tokens = message.content_tokens if counted else count_text(text)
        place = (number, len(spans), span.start, span.end)
        yield PassageDraft(message, *place, text, tokens, first_person_words, is_question)


def _tokens_by_message(drafts: Sequence[PassageDraft]) -> dict[int, int]:
    tokens: dict[int, int] = {}
    for draft in drafts:
        tokens[draft.message.id] = tokens.get(draft.message.id, 0) + draft.tokens
    return tokens


def _place_of(last: MessagePassage | None) -> SessionPlace | None:
    if last is None:
        return None
    return SessionPlace(last.session, last.place, last.until_session_tokens, last.at)


def _sums_until(last: MessagePassage | None) -> SumsUntil:
    if last is None:
        return SumsUntil()
    return SumsUntil(
        session_tokens=last.until_session_tokens,
        session_words=last.until_session_words,
        words=last.until_words,
        user_messages=last.until_user_messages,
        user_tokens=last.until_user_tokens,
        assistant_messages=last.until_assistant_messages,
        assistant_tokens=last.until_assistant_tokens,
    )
