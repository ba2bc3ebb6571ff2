"""Lexical search: passages found by their words in full text, rated as BM25 does.

    idf    = ln(1 + (N − df + 0.5) ÷ (df + 0.5))
    rating = Σ idf × tf × (K1 + 1) ÷ (tf + K1 × (1 − B + B × tokens ÷ average tokens))

N passages are in scope, and df of them have the lexeme. It is found tf times in the passage, where once in the heading
is as good as several times in the text. PostgreSQL's own rank knows neither how rare a word is nor how long a passage.

*covered* is how much of the question a passage has, Σ √idf of its subject words: of a question about things that are
nowhere in scope little is covered, in any wording. A word that is nowhere has the largest idf.
"""

from __future__ import annotations

from conversations.core.documents.fusion import Candidate, near_the_best

from .bounded_query import fetch_candidates
from .lexemes import normalize_words
from .search_scope import SCOPE

K1 = 1.2
B = 0.75
HEADING_HITS = 3
# In a few passages every word is rare, or none is: they are weighed as if they were among this many.
FEWEST_PASSAGES = 50
COVERED_AT_LEAST = 0.4
# A long question is covered by as much as this many words that are nowhere else.
ENOUGH_WORDS = 3
BESIDE_THE_BEST = 0.25
MOST_CHARACTERS = 4_000  # of a question; a longer one was pasted
# Words for where to search, not what for: they help to rank, but alone they find nothing.
PLACES = frozenset(
    """
    article articles chapter chapters document documents file files page pages part parts passage passages record
    records report section sections session sessions talk talks text texts 演讲 文档 文件 章节
    """.split()  # noqa: SIM905
)
# Words of greetings, thanks and requests, which say nothing of the subject.
COURTESIES = frozenset(
    """
    also anything bye else everything explain find give good great hello help hey hi lot many nice no ok okay one ones
    please show something sorry tell thank thanks today tomorrow want yes yesterday
    你好 谢谢 请问 再见 今天 什么 怎么 有没 没有 哪些 哪里 告诉 诉我
    """.split()  # noqa: SIM905  # fifty quoted words are no easier to read
)

SEARCH = f"""
WITH {SCOPE},
collection AS (
    SELECT greatest(sum(passage_count), {FEWEST_PASSAGES})::float AS passages,
           greatest(sum(tokens)::float / greatest(sum(passage_count), 1), 1) AS average_tokens
    FROM scope
),
asked AS (
    SELECT language, lexemes, tsvector_to_array(to_tsvector(language::regconfig, %(subject)s)) AS subject,
           array_to_string(lexemes, ' | ')::tsquery AS query
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
    -- By a hash first, which IN makes: a pasted question has hundreds of lexemes, and so has a passage.
    WHERE CASE WHEN hit.lexeme IN (SELECT unnest(lexemes) FROM asked) THEN hit.lexeme = ANY (asked.lexemes) END
),
lexemes AS (
    SELECT language, lexeme, is_subject, ln(1 + (passages - df + 0.5) / (df + 0.5)) AS idf
    FROM collection, (
        SELECT asked.language, lexeme, lexeme = ANY (subject) AS is_subject, count(hits.id) AS df
        FROM asked CROSS JOIN LATERAL unnest(asked.lexemes) AS lexeme
        LEFT JOIN hits USING (language, lexeme)
        GROUP BY asked.language, lexeme, is_subject
    ) counted
),
questions AS (
    SELECT language,
           least({COVERED_AT_LEAST} * sum(sqrt(idf)), {ENOUGH_WORDS} * sqrt(ln(1 + (passages + 0.5) / 0.5))) AS needed
    FROM lexemes, collection WHERE is_subject GROUP BY language, passages
),
rated AS (
    SELECT hits.id, hits.language, sum(sqrt(idf)) FILTER (WHERE is_subject) AS covered, sum(
        idf * tf * {K1 + 1} / (tf + {K1} * ({1 - B} + {B} * hits.tokens / average_tokens))
    ) AS rating
    FROM hits JOIN lexemes USING (language, lexeme), collection
    GROUP BY hits.id, hits.language
)
SELECT passage.id, scope.public_id, scope.place, scope.name, passage.heading, passage.text, rated.rating
FROM rated
JOIN questions USING (language)
JOIN conversations_passage passage USING (id)
JOIN scope ON scope.id = passage.document_id
WHERE covered >= needed
ORDER BY rating DESC, passage.document_id, passage.number
LIMIT %(most)s
"""  # noqa: S608  # only numbers of this file are put into it


def lexical_search(reply_id: int, question: str, *, most: int) -> list[Candidate]:
    """Return the passages that have enough of the question's words, best first. Raises `LookUpTooCostly`."""
    words = [word for word in normalize_words(question[:MOST_CHARACTERS]).split() if word.casefold() not in COURTESIES]
    if not words:
        return []
    subject = [word for word in words if word.casefold() not in PLACES] or words
    parameters: dict[str, str | int] = {
        "reply": reply_id,
        "words": " ".join(words),
        "subject": " ".join(subject),
        "most": most,
    }
    return near_the_best(fetch_candidates(SEARCH, parameters), share=BESIDE_THE_BEST)
