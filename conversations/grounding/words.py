"""Passages found by their words: full text, rated as BM25 does.

    idf    = ln(1 + (N − df + 0.5) ÷ (df + 0.5))
    rating = Σ idf × tf × (K1 + 1) ÷ (tf + K1 × (1 − B + B × tokens ÷ average tokens))

N passages are in scope, and df of them have the lexeme. It is found tf times in the passage, where once in the heading
is as good as several times in the text. PostgreSQL's own rank knows neither how rare a word is nor how long a passage.

*covered* is how much of the question a passage has, in idf: of a question about things that are nowhere in scope little
is covered, by whatever words they were asked for. What is nowhere has the largest idf.
"""

from __future__ import annotations

from django.db import connection

from conversations.core.fusion import Candidate, near_the_best

from .lexemes import to_words
from .scope import SCOPE

K1 = 1.2
B = 0.75
HEADING_HITS = 3
# In a few passages every word is rare, or none is: they are weighed as if they were among this many.
FEWEST_PASSAGES = 50
COVERED_AT_LEAST = 0.3
# A long question is covered by as much as this many words that are nowhere else.
ENOUGH_WORDS = 3
BESIDE_THE_BEST = 0.25
MOST_CHARACTERS = 4_000  # of a question: what is longer was pasted

SEARCH = f"""
WITH {SCOPE},
collection AS (
    SELECT greatest(sum(passage_count), {FEWEST_PASSAGES})::float AS passages,
           greatest(sum(tokens)::float / greatest(sum(passage_count), 1), 1) AS average_tokens
    FROM scope
),
asked AS (
    SELECT language, lexemes, array_to_string(lexemes, ' | ')::tsquery AS query
    FROM (SELECT DISTINCT search_language AS language FROM scope) languages,
         LATERAL (SELECT tsvector_to_array(to_tsvector(language::regconfig, %(words)s)) AS lexemes) made
),
hits AS MATERIALIZED (
    SELECT passage.id, passage.tokens, asked.language, hit.lexeme,
           cardinality(hit.weights) + {HEADING_HITS - 1} * cardinality(array_positions(hit.weights, 'A')) AS tf
    FROM scope
    JOIN asked ON asked.language = scope.search_language
    JOIN conversations_passage passage ON passage.document_id = scope.id AND passage.search @@ asked.query
    CROSS JOIN LATERAL unnest(passage.search) AS hit (lexeme, positions, weights)
    WHERE hit.lexeme = ANY (asked.lexemes)
),
lexemes AS (
    SELECT language, lexeme, ln(1 + (passages - df + 0.5) / (df + 0.5)) AS idf
    FROM collection, (
        SELECT asked.language, lexeme, count(hits.id) AS df
        FROM asked CROSS JOIN LATERAL unnest(asked.lexemes) AS lexeme
        LEFT JOIN hits USING (language, lexeme)
        GROUP BY asked.language, lexeme
    ) counted
),
questions AS (
    SELECT language, least({COVERED_AT_LEAST} * sum(idf), {ENOUGH_WORDS} * ln(1 + (passages + 0.5) / 0.5)) AS needed
    FROM lexemes, collection GROUP BY language, passages
),
rated AS (
    SELECT hits.id, hits.language, sum(idf) AS covered, sum(
        idf * tf * {K1 + 1} / (tf + {K1} * ({1 - B} + {B} * hits.tokens / average_tokens))
    ) AS rating
    FROM hits JOIN lexemes USING (language, lexeme), collection
    GROUP BY hits.id, hits.language
)
SELECT passage.id, scope.public_id, scope.name, passage.heading, passage.text, rated.rating
FROM rated
JOIN questions USING (language)
JOIN conversations_passage passage USING (id)
JOIN scope ON scope.id = passage.document_id
WHERE covered >= needed
ORDER BY rating DESC, passage.document_id, passage.number
LIMIT %(most)s
"""  # noqa: S608  # only numbers of this file are put into it


def search_by_words(reply_id: int, question: str, *, most: int) -> list[Candidate]:
    """Return the passages that have enough of the question's words, best first."""
    if not (words := to_words(question[:MOST_CHARACTERS])):
        return []
    with connection.cursor() as cursor:
        cursor.execute(SEARCH, {"reply": reply_id, "words": words, "most": most})
        found = [candidate_of(*row) for row in cursor.fetchall()]
    return near_the_best(found, share=BESIDE_THE_BEST)


def candidate_of(id_: int, public_id: object, name: str, heading: str, text: str, rating: float) -> Candidate:
    """Return a row of a search as a candidate; its source is the document's name and the path of headings."""
    source = f"{name} › {heading}" if heading else name
    return Candidate(id_, str(public_id), source, text, float(rating))
