"""The terms of a question: its lexemes, in the language in which a conversation is indexed, and the rarest of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection

from conversations.core.recall.weights import MOST_TERMS, POLITENESS
from conversations.grounding.lexemes import normalize_words

from .lexeme_counts import read_counts
from .meaning import QuestionVector

MOST_CHARACTERS = 200_000
MOST_WORDS = 400  # different ones: the first half and the last half of them
STOP_WORDS = frozenset(
    "thanks thank please okay ok yes hi hello really also would could let ve ll re m d".split()  # noqa: SIM905
)
POLITE_WORDS = frozenset(POLITENESS.split())
# The last passage before the question, with the sums until there; *sought* are those that may be recalled.
BEGIN = """
SELECT place.passages, place.sought, place.encoding,
       to_tsvector(place.search_language::regconfig, %(words)s)::text,
       to_tsvector(place.search_language::regconfig, %(polite)s)::text,
       last.until_user_messages, last.until_user_tokens, last.until_assistant_messages, last.until_assistant_tokens
FROM (
  SELECT conversation_id, search_language, encoding, coalesce((
    SELECT ordinal FROM conversations_messagepassage passage
    WHERE passage.conversation_id = stored.conversation_id AND position >= %(asked)s
    ORDER BY position, ordinal LIMIT 1
  ), passages) AS passages, coalesce((
    SELECT ordinal FROM conversations_messagepassage passage
    WHERE passage.conversation_id = stored.conversation_id AND position >= %(before)s
    ORDER BY position, ordinal LIMIT 1
  ), passages) AS sought
  FROM conversations_messageindex stored WHERE conversation_id = %(conversation)s
) AS place
JOIN conversations_messagepassage last
  ON last.conversation_id = place.conversation_id AND last.ordinal = place.passages - 1
"""
COUNTS = """
SELECT lexeme, sum(length(entries)) / 4 FROM conversations_messagepostings
WHERE conversation_id = %(conversation)s AND lexeme = ANY(%(lexemes)s) GROUP BY lexeme
"""


@dataclass(frozen=True, slots=True)
class IndexedQuestion:
    """A question to an indexed conversation: its *lexemes*, of which some are *polite*.

    So many *passages* are before it, and of these the first, *sought*, may be recalled: those before a position.
    *said* is role, messages and tokens until the question. *vector* is what it means, where that is known.
    """

    conversation_id: int
    text: str
    before_position: int
    now: dt.datetime
    encoding: str
    lexemes: tuple[str, ...]
    polite: frozenset[str]
    passages: int
    sought: int
    said: tuple[tuple[str, int, int], ...]
    vector: QuestionVector | None = None

    @property
    def is_polite_alone(self) -> bool:
        return self.polite.issuperset(self.lexemes)


def read_question(
    conversation_id: int,
    text: str,
    *,
    before_position: int,
    asked_position: int,
    now: dt.datetime,
    vector: QuestionVector | None = None,
) -> IndexedQuestion | None:
    """Return the question; None where it has no term, or nothing that may be recalled is indexed."""
    words = question_words(text)
    if not words:
        return None
    places = {"before": before_position, "asked": asked_position}
    texts = {"words": " ".join(words), "polite": POLITENESS}
    with connection.cursor() as cursor:
        cursor.execute(BEGIN, {"conversation": conversation_id, **places, **texts})
        row = cursor.fetchone()
    if row is None or not row[1]:
        return None
    passages, sought, encoding, asked, polite, *sums = row
    return IndexedQuestion(
        conversation_id,
        text,
        before_position,
        now,
        encoding,
        lexemes=tuple(read_counts(asked)),
        polite=frozenset(read_counts(polite)),
        passages=passages,
        sought=sought,
        vector=vector,
        said=(("user", int(sums[0]), int(sums[1])), ("assistant", int(sums[2]), int(sums[3]))),
    )


def says_something(text: str) -> bool:
    """Tell whether a question has words besides those of politeness."""
    return not POLITE_WORDS.issuperset(question_words(text))


def question_words(text: str) -> list[str]:
    """Return the different words of a question, in lower case; of a very long one the first and the last."""
    if len(text) > MOST_CHARACTERS:
        text = f"{text[: MOST_CHARACTERS // 2]} {text[-MOST_CHARACTERS // 2 :]}"
    words = [word for word in dict.fromkeys(normalize_words(text).lower().split()) if word not in STOP_WORDS]
    half = MOST_WORDS // 2
    return words if len(words) <= MOST_WORDS else words[:half] + words[-half:]


def count_passages(conversation_id: int, lexemes: Collection[str]) -> dict[str, int]:
    """Return in how many passages of the conversation each of *lexemes* is; those that are nowhere are missing."""
    parameters: dict[str, Any] = {"conversation": conversation_id, "lexemes": list(lexemes)}
    with connection.cursor() as cursor:
        cursor.execute(COUNTS, parameters)
        return {lexeme: int(count) for lexeme, count in cursor.fetchall()}


def rarest(counts: Mapping[str, int], *, most: int = MOST_TERMS, most_passages: int | None = None) -> list[str]:
    """Return the rarest lexemes, *most* of them, that together are in no more than so many passages."""
    chosen: list[str] = []
    passages = 0
    for lexeme, count in sorted(counts.items(), key=lambda each: (each[1], each[0]))[:most]:
        passages += count
        if chosen and most_passages is not None and passages > most_passages:
            break
        chosen.append(lexeme)
    return chosen
