"""Read what a program looks up: `{conversation, question, limit}` for recall, `{query, limit}` for search."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conversations.core.errors import ParameterInvalid
from conversations.core.text.storable_text import UNSTORABLE

from .item_ids import read_conversation_id
from .json_body import read_json_object, shown_name

MOST_LISTED = 50
LISTED = 20
MOST_QUESTION_CHARACTERS = 100_000


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
    given = _fields(body, "conversation", "question", "limit")
    named = _text(given, "conversation")
    question = _text(given, "question")
    if len(question) > MOST_QUESTION_CHARACTERS:
        raise ParameterInvalid("question", f"it has more than {MOST_QUESTION_CHARACTERS} characters")
    return RecallRequest(read_conversation_id(named), UNSTORABLE.sub("", question), _limit(given))


def read_search_request(body: bytes) -> SearchRequest:
    """Return what *body* asks for. Raises `ParameterInvalid`, which names the parameter."""
    given = _fields(body, "query", "limit")
    return SearchRequest(_text(given, "query"), _limit(given))


def _fields(body: bytes, *names: str) -> Mapping[str, Any]:
    given = {name: value for name, value in read_json_object(body).items() if value is not None}
    for name in given:
        if name not in names:
            raise ParameterInvalid(shown_name(name), "it is not supported")
    return given


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ParameterInvalid(name, "a text is needed")
    return value


def _limit(given: Mapping[str, Any]) -> int:
    value = given.get("limit", LISTED)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_LISTED:
        raise ParameterInvalid("limit", f"a whole number from 1 to {MOST_LISTED} is needed")
    return value
