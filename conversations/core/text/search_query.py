"""Parse what is typed into search: words, quoted phrases and filters such as `from:me`. Never fails; it tells problems.

ferry "night train" in:lofoten from:me before:2026-01-31
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from .storable_text import UNSTORABLE

MOST_CHARACTERS = 500
MOST_WORDS = 12  # and phrases
FIRST_YEAR, LAST_YEAR = 1971, 9998
QUOTES = dict.fromkeys(map(ord, "“”„‟«»「」『』"), '"')
# A filter with its value, which may be quoted; a phrase, also one whose end is not typed yet; a word.
PART = re.compile(r'(?P<name>[^\W\d_]+):(?P<value>"[^"]*"?|[^\s"]*)|"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+)')
ROLES = {"me": "user", "model": "assistant"}


class QueryProblem(StrEnum):
    """What could not be taken as it was typed."""

    UNKNOWN_FILTER = "unknown_filter"
    UNKNOWN_VALUE = "unknown_value"
    INVALID_DATE = "invalid_date"
    NO_VALUE = "no_value"
    TOO_LONG = "too_long"
    TOO_MANY_WORDS = "too_many_words"
    NO_WORD = "no_word"


@dataclass(slots=True)
class SearchQuery:
    """What is searched for.

    *ends_in_word* says that the last word may go on: it is being typed. *places* are parts of titles or names of
    scenarios. *after* is the first day that is meant, *before* the first one that is not. *problems* are kinds with
    the part of the query, each to be told.
    """

    text: str = ""
    words: list[str] = field(default_factory=list)
    phrases: list[str] = field(default_factory=list)
    ends_in_word: bool = False
    places: list[str] = field(default_factory=list)
    role: str = ""
    before: dt.date | None = None
    after: dt.date | None = None
    has_document: bool = False
    has_picture: bool = False
    is_starred: bool = False
    is_archived: bool = False
    problems: list[tuple[QueryProblem, str]] = field(default_factory=list)

    @property
    def has_words(self) -> bool:
        return bool(self.words or self.phrases)

    @property
    def filters_conversations(self) -> bool:
        return bool(self.places or self.has_document or self.is_starred or self.is_archived)

    @property
    def filters_messages(self) -> bool:
        return bool(self.role or self.before or self.after or self.has_picture)

    @property
    def is_empty(self) -> bool:
        return not (self.has_words or self.filters_conversations or self.filters_messages)


def parse_query(typed: str) -> SearchQuery:
    """Return what *typed* asks for. Of a very long query, only the beginning."""
    text = unicodedata.normalize("NFKC", UNSTORABLE.sub(" ", typed[: MOST_CHARACTERS + 1])).translate(QUOTES)
    query = SearchQuery(text=text[:MOST_CHARACTERS].strip())
    if len(typed) > MOST_CHARACTERS:
        query.problems.append((QueryProblem.TOO_LONG, ""))
    for match in PART.finditer(query.text):
        query.ends_in_word = False
        if match["phrase"] is not None:
            _add(query, query.phrases, " ".join(match["phrase"].split()))
        elif match["word"] is not None:
            _add(query, query.words, match["word"])
            query.ends_in_word = match.end() == len(query.text) and not typed[-1:].isspace()
        else:
            _take_filter(query, match[0], match["name"].lower(), match["value"].strip('"').strip())
    if query.is_empty and typed.strip() and not query.problems:
        query.problems.append((QueryProblem.NO_WORD, ""))
    return query


def has_letters(text: str) -> bool:
    """Tell whether there is anything in *text* that could be found."""
    return any(sign.isalnum() for sign in text)


def _add(query: SearchQuery, to: list[str], words: str) -> None:
    if not has_letters(words):
        return
    if len(query.words) + len(query.phrases) < MOST_WORDS:
        to.append(words)
    elif (QueryProblem.TOO_MANY_WORDS, "") not in query.problems:
        query.problems.append((QueryProblem.TOO_MANY_WORDS, ""))


def _take_filter(query: SearchQuery, part: str, name: str, value: str) -> None:
    take = FILTERS.get(name)
    if take is None:
        if not value.startswith("//"):  # of an address
            query.problems.append((QueryProblem.UNKNOWN_FILTER, f"{name}:"))
        _add(query, query.words, part.replace('"', " "))
    elif not value:
        query.problems.append((QueryProblem.NO_VALUE, f"{name}:"))
    elif problem := take(query, value):
        query.problems.append((problem, part))


def _take_place(query: SearchQuery, value: str) -> QueryProblem | None:
    if value.lower() == "archived":
        query.is_archived = True
    else:
        query.places.append(value)
    return None


def _take_role(query: SearchQuery, value: str) -> QueryProblem | None:
    query.role = ROLES.get(value.lower(), query.role)
    return None if value.lower() in ROLES else QueryProblem.UNKNOWN_VALUE


def _take_before(query: SearchQuery, value: str) -> QueryProblem | None:
    day = _day(value)
    query.before = day or query.before
    return None if day else QueryProblem.INVALID_DATE


def _take_after(query: SearchQuery, value: str) -> QueryProblem | None:
    day = _day(value)
    query.after = day or query.after
    return None if day else QueryProblem.INVALID_DATE


def _take_having(query: SearchQuery, value: str) -> QueryProblem | None:
    query.has_document |= value.lower() == "document"
    query.has_picture |= value.lower() == "picture"
    return None if value.lower() in ("document", "picture") else QueryProblem.UNKNOWN_VALUE


def _take_state(query: SearchQuery, value: str) -> QueryProblem | None:
    query.is_starred |= value.lower() == "starred"
    query.is_archived |= value.lower() == "archived"
    return None if value.lower() in ("starred", "archived") else QueryProblem.UNKNOWN_VALUE


FILTERS: dict[str, Callable[[SearchQuery, str], QueryProblem | None]] = {
    "in": _take_place,
    "from": _take_role,
    "before": _take_before,
    "after": _take_after,
    "has": _take_having,
    "is": _take_state,
}


def _day(value: str) -> dt.date | None:
    """Return the day, or the first one of a month or a year."""
    if not re.fullmatch(r"\d{4}(-\d{1,2}){0,2}", value, re.ASCII):
        return None
    numbers = [int(number) for number in value.split("-")]
    if not FIRST_YEAR <= numbers[0] <= LAST_YEAR:
        return None
    try:
        return dt.date(*[*numbers, 1, 1][:3])
    except ValueError:
        return None
