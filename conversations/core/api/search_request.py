"""Read what a program searches for in its owner's conversations: `{query, limit}`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .fields import SHOWN_TEXT, JsonSchema, nullable_fields, read_fields, read_shown_text, said, whole_number

MOST_LISTED = 50
LISTED = 20
LIMIT = whole_number(1, MOST_LISTED)
LIMIT_SCHEMA: JsonSchema = {**LIMIT.schema, "default": LISTED}
BODY = nullable_fields(
    {"query": said(SHOWN_TEXT, "Words, phrases and filters as in the search of the page."), "limit": LIMIT_SCHEMA},
    required=("query",),
    title="SearchRequest",
)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A *query* as it is typed into the search of the page, and how many hits are wanted at most."""

    query: str
    limit: int


def read_search_request(body: bytes) -> SearchRequest:
    """Return what *body* asks for. Raises `ParameterInvalid`, which names the parameter."""
    given = read_fields(body, BODY)
    return SearchRequest(read_shown_text(given.get("query"), "query"), read_limit(given))


def read_limit(given: Mapping[str, Any]) -> int:
    return int(LIMIT(given.get("limit", LISTED), "limit"))
