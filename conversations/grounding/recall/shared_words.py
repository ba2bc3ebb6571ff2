"""The words of a question that are in what was found for it, for pages that say why it was found."""

from __future__ import annotations

from collections.abc import Sequence

from conversations.grounding.lexemes import normalize_words, search_language

from .lexeme_counts import count_lexemes
from .question_terms import POLITE_WORDS, question_words

MOST_SHARED = 6


def shared_words(question: str, texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return for each of *texts* the words of *question* that it has in any form, as they were asked; at most so many.

    Words of politeness are no reason. Of several forms of one word the first stands for all.
    """
    words = [word for word in question_words(question) if word not in POLITE_WORDS]
    if not words or not texts:
        return [()] * len(texts)
    counted = count_lexemes([*words, *texts], search_language=search_language())
    spelled = {word.lower(): word for word in reversed(normalize_words(question).split())}
    word_of: dict[str, str] = {}
    for word, lexemes in zip(words, counted, strict=False):
        for lexeme in lexemes.counts:
            word_of.setdefault(lexeme, spelled[word])
    return [
        tuple(dict.fromkeys(word for lexeme, word in word_of.items() if lexeme in text.counts))[:MOST_SHARED]
        for text in counted[len(words) :]
    ]
