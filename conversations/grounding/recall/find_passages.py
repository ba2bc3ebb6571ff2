"""Find passages: the older messages that a question needs, best first. No model is asked here.

    terms of the question → postings → BM25 of passages and sessions → candidates → ranked by `core.recall.weights`
                                       └ words that the best passages have besides: once more
    vector of the question, where there is one → the nearest passages  ┘ are candidates, too

What is recalled of a message is all of a short one, the best excerpt of a longer one, one passage of a giant one.
Bounded: a few dozen terms, a few hundred candidates, whatever the question and the conversation are.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from conversations.core.recall.question_hints import Hints, read_hints
from conversations.core.recall.rank_candidates import (
    mean_tokens_by_role,
    rank_candidates,
    share_of_first_person,
    terseness,
)
from conversations.core.recall.recalled_passage import RecalledPassage
from conversations.core.recall.weights import (
    ENOUGH_PASSAGES,
    LEAST_MATCHED_IDF,
    LEAST_MATCHED_SHARE,
    MOST_TERMS,
    SEARCH_WEIGHTS,
    WEIGHTS,
    Term,
)
from conversations.models.message_postings import EVERY_PASSAGE
from conversations.providers.tokens.tokenizer import count_text

from .block_filling import GIANT_TOKENS, is_long, read_to_fill, sent_tokens
from .candidate_rows import CandidateRow, passages_in_time, read_candidates, read_passages
from .conversation_arrays import ConversationArrays, Floats, Integers, read_arrays, read_postings
from .excerpts import read_excerpts
from .lexeme_counts import read_counts
from .likely_chunks import LARGE_PASSAGES, ask_likely_chunks, move_ordinals
from .meaning import NOTHING_NEAR, Nearness, nearest_passages, with_passages
from .question_terms import IndexedQuestion, count_passages, rarest
from .term_scores import (
    K1,
    Query,
    WeighedPostings,
    coverage,
    idf,
    neighbour_scores,
    passage_scores,
    session_scores,
)

MOST_CANDIDATES = 300
FEWEST_CANDIDATES = 60
CANDIDATE_TOKENS = 8  # of the block that they are to fill, for each further one
MOST_OF_A_DAY = 200
FEEDBACK_PASSAGES = 6
FEEDBACK_TERMS = 15
FEEDBACK_WEIGHT = 0.4
WORDS_PER_TOKEN = 0.75


def find_passages(asked: IndexedQuestion, *, most: int, limit_tokens: int | None = None) -> list[RecalledPassage]:
    """Return what of older messages *asked* needs, best first; nothing where nothing is likely to help.

    As much as fills *limit_tokens*, and a little more.
    """
    hints, nearness = read_hints(asked.text, today=asked.now.date()), NOTHING_NEAR
    if asked.vector and not asked.is_polite_alone:
        nearness = nearest_passages(asked.index, asked.vector, passages=asked.sought)
    asked, nearness = _narrow(asked, hints, nearness)
    terms = _find_terms(asked)
    if terms is None:
        return []
    if not (terms.is_worth_it or hints.times or nearness.nearest):
        return []
    return _best_passages(asked, terms, hints, nearness, most=most, limit_tokens=limit_tokens, ranking=RECALL)


def find_passages_with_words(asked: IndexedQuestion, *, most: int) -> list[RecalledPassage]:
    """Return passages that have a word of *asked* or are of a day that it names, best first; one of a long message.

    However little the words say: they were searched for.
    """
    hints = read_hints(asked.text, today=asked.now.date())
    asked, _ = _narrow(asked, hints, NOTHING_NEAR)
    terms = _find_terms(asked)
    if terms is None:
        return []
    return _best_passages(asked, terms, hints, NOTHING_NEAR, most=most, limit_tokens=None, ranking=SEARCH)


def _narrow(asked: IndexedQuestion, hints: Hints, nearness: Nearness) -> tuple[IndexedQuestion, Nearness]:
    """Return the question to a very large conversation as it is put to some chunks of it alone; else as it is."""
    if asked.passages <= LARGE_PASSAGES:
        return asked, nearness
    narrowed = ask_likely_chunks(asked, [*nearness.nearest, *_of_named_days(asked, hints)])
    similarities = move_ordinals(nearness.similarities, asked.index, narrowed.index)
    return narrowed, replace(nearness, similarities=similarities, nearest=tuple(similarities))


@dataclass(frozen=True, slots=True)
class _Ranking:
    """How messages are ranked: by which *weights*, whether each *has_words* of the question, and how it is read."""

    weights: Mapping[Term, float]
    has_words: bool
    giant_tokens: int  # of a message that has more, one passage is read


RECALL = _Ranking(WEIGHTS, has_words=False, giant_tokens=GIANT_TOKENS)
SEARCH = _Ranking(SEARCH_WEIGHTS, has_words=True, giant_tokens=0)


def _best_passages(
    asked: IndexedQuestion,
    terms: _Terms,
    hints: Hints,
    nearness: Nearness,
    *,
    most: int,
    limit_tokens: int | None,
    ranking: _Ranking,
) -> list[RecalledPassage]:
    measured = _Measured.of(terms, nearness)
    rows = _candidates(asked, measured, hints, ranking, most=_most_candidates(limit_tokens))
    hints = read_hints(asked.text, today=asked.now.date(), names={row.name for row in rows})
    values = _values(rows, asked, measured, hints)
    ranked = rank_candidates([row.message for row in rows], values, most=most, weights=ranking.weights)
    by_message = {row.message: row for row in rows}
    read = partial(
        read_excerpts,
        index=asked.index,
        weights=terms.idf_by_lexeme,
        best_passage=measured.best_passage,
        giant_tokens=ranking.giant_tokens,
        count_text=count_text(asked.encoding),
        zone=asked.now.tzinfo,
    )
    found = [(each, by_message[each.message]) for each in ranked]
    return read_to_fill(found, limit_tokens=limit_tokens, read=read)


@dataclass(frozen=True, slots=True)
class _Terms:
    """The question's terms that were said before; what idf they have and all have, without those of politeness.

    *passages* are those among which words are counted.
    """

    arrays: ConversationArrays
    query: Query
    passages: int
    matched_idf: float
    counted_idf: float
    total_idf: float
    count: int

    @property
    def idf_by_lexeme(self) -> dict[str, float]:
        return {lexeme: term.idf for lexeme, term in self.query.items()}

    @property
    def is_worth_it(self) -> bool:
        return self.matched_idf >= max(LEAST_MATCHED_IDF, LEAST_MATCHED_SHARE * self.counted_idf)


def _find_terms(asked: IndexedQuestion) -> _Terms | None:
    """Read the postings of the question's terms, and the shape of the conversation in the same statement."""
    lexemes: Collection[str] = asked.lexemes
    counts: Mapping[str, int] = asked.counts.by_lexeme if asked.counts else {}
    if len(lexemes) > MOST_TERMS:
        counts = counts or count_passages(asked.index, lexemes)
        lexemes = rarest(counts)
    rows = read_postings(asked.index, [EVERY_PASSAGE, *lexemes])
    arrays = read_arrays(asked.index, rows)
    if arrays is None or not arrays.passages:
        return None
    postings = {lexeme: arrays.postings(rows.get(lexeme, [])) for lexeme in lexemes}
    found = dict(counts) | {lexeme: len(each.passages) for lexeme, each in postings.items()}
    total = arrays.passages
    if asked.counts:
        found, total = dict(counts), asked.counts.total
    query = {
        lexeme: WeighedPostings(1.0, each, idf(total, min(total, found.get(lexeme, 0))))
        for lexeme, each in postings.items()
    }
    weights = {lexeme: idf(total, min(total, found.get(lexeme, 0))) for lexeme in asked.lexemes}
    # For the floor alone: in a few short conversations every word is common, and the question means them all the same.
    enough = max(total, ENOUGH_PASSAGES)
    counted = {
        lexeme: idf(enough, min(total, found.get(lexeme, 0))) for lexeme in asked.lexemes if lexeme not in asked.polite
    }
    matched = sum(weight for lexeme, weight in counted.items() if found.get(lexeme))
    return _Terms(arrays, query, total, matched, sum(counted.values()), sum(weights.values()), len(weights))


@dataclass(frozen=True, slots=True)
class _Measured:
    """What the index alone says of each message; *passage_scores* are those of the question's words.

    *nearness* says which passages mean what the question means.
    """

    terms: _Terms
    nearness: Nearness
    passage_scores: Floats
    values: Mapping[Term, Floats]

    @property
    def arrays(self) -> ConversationArrays:
        return self.terms.arrays

    @classmethod
    def of(cls, terms: _Terms, nearness: Nearness) -> _Measured:
        arrays = terms.arrays
        scores = passage_scores(arrays, terms.query)
        feedback = _feedback(terms, scores)
        words = arrays.best_by_message(scores)
        before, after = neighbour_scores(arrays, words)
        before_that, after_that = neighbour_scores(arrays, before)[0], neighbour_scores(arrays, after)[1]
        back = np.arange(arrays.messages, 0, -1, dtype=np.float64)
        values: dict[Term, Floats] = {
            "words": _to_largest(words),
            "best_neighbour": _to_largest(np.maximum(before, after)),
            "neighbours": _to_largest(before + after + 0.5 * (before_that + after_that)),
            "session": _to_largest(session_scores(arrays, terms.query))[arrays.session_of],
            "feedback": _to_largest(arrays.best_by_message(passage_scores(arrays, feedback))),
            "session_feedback": _to_largest(session_scores(arrays, feedback))[arrays.session_of],
            "coverage": coverage(arrays, terms.query, total_idf=terms.total_idf, terms=terms.count),
            "distance": np.log1p(back) / math.log(1 + max(arrays.messages, 2)),
            "recent": 1 / (1 + (back - 1) / 20),
        }
        return cls(terms, nearness, scores, values)

    def best_messages(self, most: int, *, sought: int, ranking: _Ranking) -> Integers:
        """Return the messages that may be ranked highest, by what the index says of them; before passage *sought*.

        Each has a word of the question, or it is enough that its session has one.
        """
        total = np.zeros(self.arrays.messages)
        for term, values in self.values.items():
            total += ranking.weights[term] * values
        total[self.arrays.message_starts >= sought] = -np.inf
        where = self.values["words"] if ranking.has_words else np.maximum(self.values["words"], self.values["session"])
        total[where <= 0] = -np.inf
        total[self.arrays.is_excluded[self.arrays.message_starts]] = -np.inf
        chosen = np.argpartition(-total, most)[:most] if len(total) > most else np.arange(len(total))
        return chosen[np.isfinite(total[chosen])]

    def best_passage(self, row: CandidateRow) -> int:
        """Return the ordinal of the passage of a message that has most of the question's words, or else is nearest."""
        if not is_long(row):
            return row.first
        scores = self.passage_scores[row.first : row.first + row.passages]
        if not scores.any():
            nearest = [ordinal for ordinal in self.nearness.nearest if 0 <= ordinal - row.first < row.passages]
            return nearest[0] if nearest else row.first
        return row.first + int(np.argmax(scores))


def _to_largest(values: Floats) -> Floats:
    largest = float(values.max(initial=0.0))
    return values / largest if largest > 0 else values


def _feedback(terms: _Terms, scores: Floats) -> Query:
    """Return the words that the best passages have besides those of the question, weighed by how much they say."""
    arrays = terms.arrays
    count = min(FEEDBACK_PASSAGES, len(scores))
    best = [int(each) for each in np.argpartition(-scores, count - 1)[:count] if scores[each] > 0]
    sums: dict[str, float] = {}
    for ordinal, passage in read_passages(arrays.index, best).items():
        for lexeme, count in read_counts(passage.tsvector).items():
            if lexeme not in terms.query and len(lexeme) > 1:
                sums[lexeme] = sums.get(lexeme, 0.0) + float(scores[ordinal]) * count / (count + K1)
    counts = count_passages(arrays.index, sums)
    total = terms.passages
    rarity = {lexeme: idf(total, min(total, counts.get(lexeme, 0))) for lexeme in sums}
    gains = {lexeme: value * rarity[lexeme] for lexeme, value in sums.items()}
    chosen = sorted(gains, key=lambda lexeme: (-gains[lexeme], lexeme))[:FEEDBACK_TERMS]
    rows = read_postings(arrays.index, chosen)
    return {
        lexeme: WeighedPostings(
            FEEDBACK_WEIGHT * gains[lexeme] / gains[chosen[0]], arrays.postings(rows[lexeme]), rarity[lexeme]
        )
        for lexeme in chosen
        if lexeme in rows
    }


def _most_candidates(limit_tokens: int | None) -> int:
    """Return among how many messages it is worth while to choose: each takes time, and a small block holds few."""
    if limit_tokens is None:
        return MOST_CANDIDATES
    return min(MOST_CANDIDATES, FEWEST_CANDIDATES + limit_tokens // CANDIDATE_TOKENS)


def _candidates(
    asked: IndexedQuestion, measured: _Measured, hints: Hints, ranking: _Ranking, *, most: int
) -> list[CandidateRow]:
    arrays = measured.arrays
    messages = set(measured.best_messages(most, sought=asked.sought, ranking=ranking).tolist())
    messages |= {int(arrays.message_of[ordinal]) for ordinal in _of_named_days(asked, hints)}
    messages |= {int(arrays.message_of[ordinal]) for ordinal in measured.nearness.nearest}
    firsts = [int(arrays.message_starts[message]) for message in messages]
    return read_candidates(asked.index, firsts)


def _of_named_days(asked: IndexedQuestion, hints: Hints) -> list[int]:
    """Return the ordinals of what was said on days that the question names, the newest of each."""
    found: list[int] = []
    for time in hints.times:
        first = dt.datetime.combine(time.first, dt.time.min, asked.now.tzinfo)
        stop = dt.datetime.combine(time.last, dt.time.max, asked.now.tzinfo)
        found += passages_in_time(asked.index, first=first, stop=stop, passages=asked.sought, most=MOST_OF_A_DAY)
    return found


def _values(
    rows: Sequence[CandidateRow], asked: IndexedQuestion, measured: _Measured, hints: Hints
) -> dict[Term, Sequence[float]]:
    """Return the values of all terms for the candidates: those from the index, and those from their rows."""
    messages = measured.arrays.message_of[np.array([row.first for row in rows], dtype=np.int64)]
    from_index = {term: values[messages].tolist() for term, values in measured.values.items()}
    means = mean_tokens_by_role(asked.said)
    most_mean = max(means.values(), default=0.0)
    terse = {role: terseness(mean, most_mean) for role, mean in means.items()}
    return from_index | {
        "meaning": _meaning(rows, asked, measured),
        "speaker": [hints.names(row.role, row.name) for row in rows],
        "date": [hints.nearness(row.at.astimezone(asked.now.tzinfo).date()) if hints.times else 0.0 for row in rows],
        "terse": [terse.get(row.role, 0.0) for row in rows],
        "first_person": [
            share_of_first_person(row.first_person_words, round(WORDS_PER_TOKEN * row.tokens)) for row in rows
        ],
        "opening": [1 / (1 + row.place / 2) for row in rows],
        "size": [math.log(sent_tokens(row) + 8) for row in rows],
        "question": [row.is_question for row in rows],
    }


def _meaning(rows: Sequence[CandidateRow], asked: IndexedQuestion, measured: _Measured) -> list[float]:
    """Return for each message how near that is of its passages which is among the nearest, or has the words."""
    nearness = measured.nearness
    if asked.vector is None or not nearness.nearest:
        return [0.0] * len(rows)
    by_message: dict[int, list[int]] = {row.first: [measured.best_passage(row)] for row in rows}
    for ordinal in nearness.nearest:
        first = int(measured.arrays.message_starts[measured.arrays.message_of[ordinal]])
        by_message.setdefault(first, []).append(ordinal)
    best = [ordinals[0] for ordinals in by_message.values()]
    nearness = with_passages(nearness, asked.index, asked.vector, best)
    return [nearness.value(by_message[row.first]) for row in rows]
