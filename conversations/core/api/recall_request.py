"""Read for what question in which conversation a program wants recall: `{conversation, question, limit}`."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from conversations.core.errors import ParameterInvalid
from conversations.core.text.storable_text import UNSTORABLE

from .fields import SHOWN_TEXT, nullable_fields, read_fields, read_shown_text, said
from .item_ids import read_conversation_id
from .search_request import LIMIT_SCHEMA, read_limit

MOST_QUESTION_CHARACTERS = 100_000
BODY = nullable_fields(
    {
        "conversation": said(SHOWN_TEXT, "The id of a conversation, `conv_…`."),
        "question": {**SHOWN_TEXT, "maxLength": MOST_QUESTION_CHARACTERS},
        "limit": LIMIT_SCHEMA,
    },
    required=("conversation", "question"),
    title="RecallRequest",
)


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A *question* for which up to *limit* older messages of a conversation are found; None is no id of one."""

    conversation: uuid.UUID | None
    question: str
    limit: int


def read_recall_request(body: bytes) -> RecallRequest:
    """Return what *body* asks for. Raises `ParameterInvalid`, which names the parameter."""
    given = read_fields(body, BODY)
    named = read_shown_text(given.get("conversation"), "conversation")
    question = read_shown_text(given.get("question"), "question")
    if len(question) > MOST_QUESTION_CHARACTERS:
        raise ParameterInvalid("question", f"it has more than {MOST_QUESTION_CHARACTERS} characters")
    return RecallRequest(read_conversation_id(named), UNSTORABLE.sub("", question), read_limit(given))
