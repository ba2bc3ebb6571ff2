"""The weights by which older messages are ranked for a question: one table, for all conversations.

    score = Σ weight × term; a term marked ^ is divided by its largest value over all messages before the question

Fitted on strict evidence (the share of questions whose whole evidence is in the window) by coordinate steps; but for
"meaning", which no embeddings model was at hand to fit.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal

Term = Literal[
    "words",
    "best_neighbour",
    "neighbours",
    "session",
    "feedback",
    "session_feedback",
    "coverage",
    "meaning",
    "speaker",
    "date",
    "terse",
    "first_person",
    "opening",
    "recent",
    "distance",
    "size",
    "question",
]
WEIGHTS: MappingProxyType[Term, float] = MappingProxyType(
    {
        "words": 0.5,  # ^ BM25 of the best passage of the message
        "best_neighbour": 0.45,  # ^ the larger of those of the messages before and after it, in its session
        "neighbours": 0.25,  # ^ those at distance 1, and half of those at distance 2
        "session": 1.6,  # ^ BM25 of its session
        "feedback": 0.7,  # ^ BM25 of its best passage for the words that the best passages have besides
        "session_feedback": 0.3,  # ^ BM25 of its session for the same words
        "coverage": 0.3,  # share of the question's idf in it or its neighbours, less for long questions
        "meaning": 0.8,  # ^ cosine with the question, above the floor or the hundredth nearest; 0 without a model
        "speaker": 0.7,  # said by the one speaker that the question names
        "date": 1.5,  # how near it is to the day or month that the question names
        "terse": 0.5,  # ln(mean tokens of the more verbose role ÷ mean tokens of its role)
        "first_person": 0.45,  # share of first-person words, times 8, at most 1
        "opening": 0.7,  # 1 ÷ (1 + place in its session, or since the last greeting ÷ 2)
        "recent": 0.35,  # 1 ÷ (1 + messages back ÷ 20)
        "distance": -1.1,  # ln(1 + messages back) ÷ ln(1 + messages)
        "size": -0.35,  # ln(tokens of what would be sent + 8)
        "question": 0.3,  # it ends with a question mark
    }
)
# When words were searched for, not what a question needs: what says nothing of them counts nothing.
SEARCH_WEIGHTS: MappingProxyType[Term, float] = MappingProxyType(
    {
        **dict.fromkeys(WEIGHTS, 0.0),
        **{
            term: WEIGHTS[term]
            for term in ("words", "best_neighbour", "neighbours", "session", "coverage", "speaker", "date")
        },
    }
)
# Nothing is recalled where the words of the question that were said before weigh less, those of politeness not counted:
# nothing beats noise.
LEAST_MATCHED_IDF = 4.0
LEAST_MATCHED_SHARE = 0.15
ENOUGH_PASSAGES = 400  # to tell how rare a word is; with fewer a question of one word finds nothing in a short talk
# Of a question; the rarest. More take more time than they are worth.
MOST_TERMS = 24
ENOUGH_TERMS = 12  # for full coverage
POLITENESS = (
    "thanks help helpful much lot good great nice fine cool perfect exactly amazing awesome lovely funny haha wow hmm "
    "welcome sure sorry right alright sense sounds morning evening night day again later well continue ahead"
)
