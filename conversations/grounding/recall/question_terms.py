"""The terms of a question: its lexemes, in the language in which messages are indexed, and the rarest of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import connection

from conversations.core.recall.weights import MOST_TERMS, POLITENESS
from conversations.grounding.lexemes import normalize_words, search_language

from .indexed_passages import IndexedPart, IndexedPassages
from .lexeme_counts import read_counts
from .meaning import QuestionVector
from .other_conversations import ChosenConversation, choose_other_conversations
from .stored_postings import PASSAGES_BY_LEXEME

MOST_CHARACTERS = 200_000
MOST_WORDS = 400  # different ones: the first half and the last half of them
STOP_WORDS = frozenset(
    "thanks thank please okay ok yes hi hello really also would could let ve ll re m d".split()  # noqa: SIM905
)
POLITE_WORDS = frozenset(POLITENESS.split())
# The last passage before the question, with the sums until there; *sought* are those that may be recalled.
BEGIN = """
SELECT place.passages, place.sought, place.encoding, place.search_language,
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
# For a question in a conversation of which nothing is indexed.
LEXEMES = """
SELECT to_tsvector(%(language)s::regconfig, %(words)s)::text, to_tsvector(%(language)s::regconfig, %(polite)s)::text
"""
SAID = """
SELECT until_user_messages, until_user_tokens, until_assistant_messages, until_assistant_tokens
FROM unnest(%(conversations)s::bigint[], %(lasts)s::int[]) AS whole (conversation_id, ordinal)
JOIN conversations_messagepassage USING (conversation_id, ordinal)
"""
COUNTS = f"""
SELECT lexeme, sum(passages) FROM unnest(%(conversations)s::bigint[]) AS asked_in (id)
CROSS JOIN LATERAL ({PASSAGES_BY_LEXEME.format(conversation="asked_in.id")}) AS found GROUP BY lexeme
"""  # noqa: S608  # a constant of ours


class PassageCounts(NamedTuple):
    """Of *total* passages, how many have each lexeme: where only some chunks are looked in, those of all."""

    total: int
    by_lexeme: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class IndexedQuestion:
    """A question to indexed passages, those of *index*: its *lexemes*, of which some are *polite*.

    Of the passages, all of which are before it, the first, *sought*, may be recalled.
    *said* is role, messages and tokens until the question. *vector* is what it means, where that is known. *counts* are
    given where *index* is not all that words are counted in.
    """

    index: IndexedPassages
    text: str
    now: dt.datetime
    encoding: str
    lexemes: tuple[str, ...]
    polite: frozenset[str]
    sought: int
    said: tuple[tuple[str, int, int], ...]
    vector: QuestionVector | None = None
    counts: PassageCounts | None = None

    @property
    def passages(self) -> int:
        return self.index.passages

    @property
    def is_polite_alone(self) -> bool:
        return self.polite.issuperset(self.lexemes)


def read_question(
    conversation_id: int | None,
    text: str,
    *,
    before_position: int,
    asked_position: int,
    now: dt.datetime,
    vector: QuestionVector | None = None,
    others_of: int | None = None,
) -> IndexedQuestion | None:
    """Return the question; None where it has no term, or nothing that may be recalled is indexed.

    It goes to the other conversations of the user *others_of*, too, those that have its words; *conversation_id* is
    None for one that has not begun.
    """
    words = question_words(text)
    if not words:
        return None
    texts = {"words": " ".join(words), "polite": POLITENESS}
    begin = _begin(
        conversation_id, texts, before=before_position, asked=asked_position, needs_lexemes=others_of is not None
    )
    if begin is None:
        return None
    others: list[ChosenConversation] = []
    if others_of is not None:
        telling = [lexeme for lexeme in begin.lexemes if lexeme not in begin.polite]
        others = choose_other_conversations(
            others_of, telling, besides=conversation_id, search_language=begin.search_language
        )
    index = _index(conversation_id, begin, others, before_position)
    sought = index.parts[-1].offset + begin.sought if begin.passages else index.passages if others else 0
    if not sought:
        return None
    return IndexedQuestion(
        index,
        text,
        now,
        begin.encoding or others[-1].encoding,
        lexemes=begin.lexemes,
        polite=begin.polite,
        sought=sought,
        vector=vector,
        said=_said(begin.said, index),
    )


class _Begin(NamedTuple):
    """What is before a question in its own conversation, and its terms; no *passages* where nothing is indexed."""

    passages: int
    sought: int
    encoding: str
    search_language: str
    lexemes: tuple[str, ...]
    polite: frozenset[str]
    said: tuple[int, ...]


def _begin(
    conversation_id: int | None, texts: Mapping[str, str], *, before: int, asked: int, needs_lexemes: bool
) -> _Begin | None:
    with connection.cursor() as cursor:
        cursor.execute(BEGIN, {"conversation": conversation_id, "before": before, "asked": asked, **texts})
        row = cursor.fetchone()
        if row is None and needs_lexemes:
            cursor.execute(LEXEMES, {"language": search_language(), **texts})
            row = (0, 0, "", search_language(), *cursor.fetchone(), 0, 0, 0, 0)
    if row is None or not (row[1] or needs_lexemes):
        return None
    passages, sought, encoding, language, lexemes, polite, *said = row
    return _Begin(
        passages, sought, encoding, language, tuple(read_counts(lexemes)), frozenset(read_counts(polite)), tuple(said)
    )


def _index(
    conversation_id: int | None, begin: _Begin, others: Sequence[ChosenConversation], before_position: int
) -> IndexedPassages:
    """Return the passages of the *others* and, after them, those before the question in its own conversation."""
    parts: list[IndexedPart] = []
    offset = 0
    for other in others:
        parts.append(IndexedPart(other.conversation, offset, other.passages, is_other=True))
        offset += other.passages
    if conversation_id is not None and begin.passages:
        parts.append(IndexedPart(conversation_id, offset, begin.passages, before_position))
    return IndexedPassages(tuple(parts))


def _said(own: tuple[int, ...], index: IndexedPassages) -> tuple[tuple[str, int, int], ...]:
    """Return role, messages and tokens of all parts; *own* are those of the conversation that is asked in."""
    sums = [own]
    if others := [part for part in index.parts if part.is_other]:
        lasts = [part.passages - 1 for part in others]
        with connection.cursor() as cursor:
            cursor.execute(SAID, {"conversations": [part.conversation_id for part in others], "lasts": lasts})
            sums += cursor.fetchall()
    users, user_tokens, assistants, assistant_tokens = (int(sum(column)) for column in zip(*sums, strict=True))
    return (("user", users, user_tokens), ("assistant", assistants, assistant_tokens))


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


def count_passages(index: IndexedPassages, lexemes: Collection[str]) -> dict[str, int]:
    """Return in how many passages of these conversations each of *lexemes* is; those that are nowhere are missing."""
    parameters: dict[str, Any] = {"conversations": index.conversation_ids, "lexemes": list(lexemes)}
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
