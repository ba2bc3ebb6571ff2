"""Recall: older messages of a conversation found by their words, anywhere on its active path.

Messages have no full-text index: first those that contain the beginnings of the words are taken, which is one pass over
lower-case text, and only the best of them are parsed and stemmed as documents are.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.db import connection

from conversations.core.text.unspaced_scripts import UNSPACED

from .bounded_query import fetch_rows
from .lexemes import normalize_words, search_language
from .lexical_search import COURTESIES

MOST_WORDS = 10
MOST_CHARACTERS = 100_000  # of a message that are looked at
MOST_CANDIDATES = 200  # whose every word is read
BESIDE_THE_BEST = 0.5

# Needs the parameter *reply*: the path before the question that it answers, and nothing else.
OLDER = """
FROM conversations_message reply
JOIN conversations_message question ON question.id = reply.parent_id
JOIN conversations_conversation conversation ON conversation.id = reply.conversation_id
JOIN conversations_message message ON message.conversation_id = conversation.id
WHERE reply.id = %(reply)s AND conversation.deleted_at IS NULL AND message.active AND NOT message.excluded
  AND message.position < question.position AND message.role IN ('user', 'assistant')
"""
STEMS = """
SELECT word, coalesce((tsvector_to_array(to_tsvector(%(language)s::regconfig, word)))[1], '')
FROM unnest(%(words)s::text[]) WITH ORDINALITY AS words (word, place) ORDER BY place
"""
SEARCH = f"""
WITH older AS MATERIALIZED (
    SELECT message.id, message.position, lower(left(message.content, {MOST_CHARACTERS})) AS text {OLDER}
),
hits AS MATERIALIZED (
    SELECT DISTINCT older.id, older.position, word
    FROM older JOIN unnest(%(words)s::text[], %(beginnings)s::text[]) AS sought (word, beginning)
    ON strpos(older.text, beginning) > 0
),
asked AS MATERIALIZED (
    SELECT word, ln(1 + (SELECT count(*) FROM older) / count(*)::float) AS rarity,
           phraseto_tsquery(%(language)s::regconfig, regexp_replace(word, '([{UNSPACED}])', ' \\1 ', 'g')) AS query
    FROM hits GROUP BY word
),
candidates AS (
    SELECT id, position FROM hits JOIN asked USING (word)
    GROUP BY id, position ORDER BY sum(rarity) DESC, position DESC LIMIT {MOST_CANDIDATES}
),
read AS MATERIALIZED (
    SELECT id, to_tsvector(%(language)s::regconfig, regexp_replace(
        regexp_replace(older.text, '[^[:alnum:]]+', ' ', 'g'), '([{UNSPACED}])', ' \\1 ', 'g'
    )) AS search FROM candidates JOIN older USING (id)
),
rated AS (
    SELECT id, sum(rarity) AS rating, max(sum(rarity)) OVER () AS best
    FROM read JOIN asked ON read.search @@ asked.query GROUP BY id
)
SELECT message.position, message.role, message.created_at, message.content
FROM rated JOIN conversations_message message USING (id)
WHERE rating >= {BESIDE_THE_BEST} * best
ORDER BY rating DESC, message.position DESC LIMIT %(most)s
"""  # noqa: S608  # only what stands in files of ours is put into it


@dataclass(frozen=True, slots=True)
class RecalledMessage:
    """An older message. *at* is where the first of the words stands in its *content*, in characters."""

    position: int
    role: str
    created_at: dt.datetime
    content: str
    at: int


def recall_messages(reply_id: int, words: str, *, most: int) -> list[RecalledMessage]:
    """Return the messages before the question of a reply that have the *words*, most and rarest first, then newest.

    Raises `LookUpTooCostly`.
    """
    asked = list(dict.fromkeys(word for word in normalize_words(words).split() if word.casefold() not in COURTESIES))
    sought = [(word, beginning) for word, stem in _stems(asked[:MOST_WORDS]) for beginning in _beginnings(word, stem)]
    if not sought:
        return []
    words_sought, beginnings = map(list, zip(*sought, strict=True))
    parameters = {
        "reply": reply_id,
        "language": search_language(),
        "words": words_sought,
        "beginnings": beginnings,
        "most": most,
    }
    return [
        RecalledMessage(position, role, created_at, content, _first_place(content, beginnings))
        for position, role, created_at, content in fetch_rows(SEARCH, parameters)
    ]


def _stems(words: list[str]) -> list[tuple[str, str]]:
    """Return each word with what is left of it without its ending, but for those that say nothing."""
    with connection.cursor() as cursor:
        cursor.execute(STEMS, {"language": search_language(), "words": words})
        return [(word, stem) for word, stem in cursor.fetchall() if stem]


def _beginnings(word: str, stem: str) -> set[str]:
    """Return what the forms of *word* begin with: a stem may end in another letter, as that of party does, parti."""
    if stem.endswith("i"):
        return {stem, f"{stem[:-1]}y"}
    written = word.lower()
    while not written.startswith(stem):
        stem = stem[:-1]
    return {stem or written}


def _first_place(content: str, beginnings: list[str]) -> int:
    lowered = content.lower()
    places = [place for beginning in beginnings if (place := lowered.find(beginning)) >= 0]
    return min(places, default=0)
