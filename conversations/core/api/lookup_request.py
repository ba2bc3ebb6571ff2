"""Read what a program looks up: `{conversation, question, limit}` for recall, `{query, limit}` for search."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conversations.core.errors import ParameterInvalid
from conversations.core.text.storable_text import UNSTORABLE

from .fields import SHOWN, SHOWN_TEXT, JsonSchema, nullable_fields, refuse_other_fields, said, whole_number
from .item_ids import read_conversation_id
from .json_body import read_json_object

MOST_LISTED = 50
LISTED = 20
MOST_QUESTION_CHARACTERS = 100_000
LIMIT = whole_number(1, MOST_LISTED)
LIMIT_SCHEMA: JsonSchema = {**LIMIT.schema, "default": LISTED}
RECALL = nullable_fields(
    {
        "conversation": said(SHOWN_TEXT, "The id of a conversation, `conv_…`."),
        "question": {**SHOWN_TEXT, "maxLength": MOST_QUESTION_CHARACTERS},
        "limit": LIMIT_SCHEMA,
    },
    required=("conversation", "question"),
    title="RecallRequest",
)
SEARCH = nullable_fields(
    {"query": said(SHOWN_TEXT, "Words, phrases and filters as in the search of the page."), "limit": LIMIT_SCHEMA},
    required=("query",),
    title="SearchRequest",
)


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A *question* for which up to *limit* older messages of a conversation are looked up; None is no id of one."""

    conversation: uuid.UUID | None
    question: str
    limit: int


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A *query* as it is typed into the search of the page, and how many hits are wanted at most."""

    query: str
    limit: int


def read_recall_request(body: bytes) -> RecallRequest:
    """Return what *body* asks for. Raises `ParameterInvalid`, which names the parameter."""
    given = _fields(body, RECALL)
    named = _text(given, "conversation")
    question = _text(given, "question")
    if len(question) > MOST_QUESTION_CHARACTERS:
        raise ParameterInvalid("question", f"it has more than {MOST_QUESTION_CHARACTERS} characters")
    return RecallRequest(read_conversation_id(named), UNSTORABLE.sub("", question), _limit(given))


def read_search_request(body: bytes) -> SearchRequest:
    """Return what *body* asks for. Raises `ParameterInvalid`, which names the parameter."""
    given = _fields(body, SEARCH)
    return SearchRequest(_text(given, "query"), _limit(given))


def _fields(body: bytes, schema: JsonSchema) -> Mapping[str, Any]:
    given = {name: value for name, value in read_json_object(body).items() if value is not None}
    refuse_other_fields(given, schema["properties"])
    return given


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not SHOWN.search(value):
        raise ParameterInvalid(name, "a text is needed")
    return value


def _limit(given: Mapping[str, Any]) -> int:
    return int(LIMIT(given.get("limit", LISTED), "limit"))
