"""Terms of a search: each word with the lexemes of the user's messages that it may mean.

    exact     the lexeme of the word; of the last one, which is being typed, also those that begin with it
    compound  lexemes that the word is a part of: "schiff" is in "dampfschiff"
    typo      lexemes that are one letter away; asked for where nothing else is found

A user's different lexemes are read from a partial index of the postings, so no word is compared twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from conversations.core.text.search_query import SearchQuery
from conversations.grounding.lexemes import IS_UNSPACED, normalize_words, search_language

MOST_LEXEMES = 40  # of one word, those that are nearest to it
MOST_PAIRS = 400  # of characters, with one that is searched for
SHORTEST_PART = 4  # letters of a word that is looked for within others, and of one that may have a typo
LONGEST_ENDING = 4  # letters that a lexeme may lack of a word that is being typed: "runnin" is in "running", as "run"
SHORTEST_BEGINNING = 3  # of a word beside others, of which more is typed perhaps
LAST_CHARACTER = "\U0010ffff"

LEXEMES = """
SELECT tsvector_to_array(to_tsvector(%(language)s::regconfig, word))
FROM unnest(%(words)s::text[]) WITH ORDINALITY AS typed (word, place) ORDER BY place
"""
BEGINNING = """
SELECT lexeme FROM conversations_messagepostings
WHERE owner_id = %(owner)s AND is_listed AND lexeme >= %(from)s AND lexeme < %(until)s
ORDER BY length(lexeme), lexeme LIMIT %(most)s
"""
CONTAINING = """
SELECT DISTINCT lexeme FROM conversations_messagepostings
WHERE owner_id = %(owner)s AND is_listed AND ({conditions})
LIMIT 2000
"""
SIMILAR = """
SELECT DISTINCT lexeme FROM conversations_messagepostings
WHERE owner_id = %(owner)s AND is_listed AND length(lexeme) BETWEEN %(shortest)s AND %(longest)s
  AND (starts_with(lexeme, %(first_half)s) OR right(lexeme, %(rest)s) = %(last_half)s)
  AND lexeme LIKE ANY(%(patterns)s) OR owner_id = %(owner)s AND is_listed AND lexeme = ANY(%(exchanged)s)
LIMIT %(most)s
"""


@dataclass(slots=True, eq=False)
class SearchTerm:
    """A word, or of an unspaced script a pair of characters. *lexemes* are what it may mean, *wider* those beyond it.

    *stem* is its own lexeme, empty for a word that is not indexed because everything has it. *begins* says that others
    may begin with it, and then *shorter* are lexemes of words that may: whether they do, their content tells.
    *may_differ* says that it need not stand exactly so.
    """

    word: str
    stem: str
    begins: bool = False
    may_differ: bool = True
    lexemes: set[str] = field(default_factory=set)
    shorter: set[str] = field(default_factory=set)
    wider: set[str] = field(default_factory=set)

    @property
    def is_unspaced(self) -> bool:
        return bool(IS_UNSPACED.match(self.word))

    @property
    def part(self) -> str:
        """What is looked for within other lexemes: without an ending, where that is only cut off."""
        return self.stem if self.stem and self.word.startswith(self.stem) else self.word

    @property
    def is_sought_within(self) -> bool:
        if not self.may_differ:
            return False
        return len(self.word) == 1 if self.is_unspaced else len(self.part) >= SHORTEST_PART


@dataclass(slots=True)
class SearchTerms:
    """The terms of a query: those that are *indexed*, and the *common* words, which are not, as all texts have them.

    *runs* are what must stand in the content as it is: quoted phrases, and words of unspaced scripts.
    """

    indexed: list[SearchTerm]
    runs: list[str]
    common: list[str]


def read_terms(owner: int, query: SearchQuery) -> SearchTerms:
    """Return the terms of *query* with the lexemes that they exactly mean."""
    typed = [(word.lower(), True) for word in query.words] + [(phrase.lower(), False) for phrase in query.phrases]
    words = [(word, may_differ) for text, may_differ in typed for word in normalize_words(text).lower().split()]
    last = normalize_words(query.words[-1]).lower().split()[-1:] if query.words and query.ends_in_word else []
    stems = _stems([word for word, _ in words])
    terms: dict[tuple[str, bool], SearchTerm] = {}
    common: list[str] = []
    for (word, may_differ), stem in zip(words, stems, strict=True):
        begins = may_differ and [word] == last and not IS_UNSPACED.match(word)
        if stem or begins:
            term = SearchTerm(word, stem, begins, may_differ, {stem} - {""})
            terms[word, may_differ] = term
        else:
            common.append(word)
    indexed = list(terms.values())
    if len(indexed) > 1:  # a beginning of few letters tells nothing beside other words
        indexed = [each for each in indexed if each.stem or len(each.word) >= SHORTEST_BEGINNING]
    for term in indexed:
        if term.begins:
            term.lexemes.update(_beginning_with(owner, term))
            shortest = max(SHORTEST_BEGINNING, len(term.word) - LONGEST_ENDING)
            term.shorter = {term.word[:length] for length in range(shortest, len(term.word))} - term.lexemes
    runs = [phrase.lower() for phrase in query.phrases] + [
        run for word, may_differ in typed if may_differ for run in _unspaced_runs(word) if len(run) > 1
    ]
    return SearchTerms(indexed, runs, common)


UNSPACED_RUN = re.compile(rf"(?:{IS_UNSPACED.pattern})+")


def _unspaced_runs(word: str) -> list[str]:
    return UNSPACED_RUN.findall(word)


def add_compounds(owner: int, terms: Sequence[SearchTerm]) -> bool:
    """Add the lexemes that the words are a part of. Returns whether there are any."""
    sought = [term for term in terms if term.is_sought_within]
    if not sought:
        return False
    parts = {f"part_{number}": term.part for number, term in enumerate(sought)}
    conditions = " OR ".join(f"strpos(lexeme, %({name})s) > 0" for name in parts)
    found = _fetch(CONTAINING.format(conditions=conditions), {"owner": owner, **parts})
    for term in sought:
        nearest = sorted((lexeme for lexeme in found if term.part in lexeme), key=lambda lexeme: (len(lexeme), lexeme))
        term.wider.update(nearest[: MOST_PAIRS if term.is_unspaced else MOST_LEXEMES])
        term.wider -= term.lexemes
    return any(term.wider for term in sought)


def add_typos(owner: int, terms: Sequence[SearchTerm]) -> bool:
    """Add the lexemes that are one letter away from the words. Returns whether there are any."""
    found = False
    for term in terms:
        if term.may_differ and not term.is_unspaced and len(term.word) >= SHORTEST_PART:
            for word in {term.word, term.stem} - {""}:
                similar = set(_fetch(SIMILAR, {"owner": owner, "most": MOST_LEXEMES, **_one_letter_away(word)}))
                term.wider |= similar - term.lexemes
            found = found or bool(term.wider)
    return found


def _one_letter_away(word: str) -> dict[str, Any]:
    """Return what finds the words that differ in one letter, or have one more or less, or two of them exchanged.

    One letter is in one half of the word, so such a word begins or ends with the other half.
    """
    half = len(word) // 2
    patterns = {f"{word[:place]}_{word[place:]}" for place in range(len(word) + 1)}
    patterns |= {f"{word[:place]}_{word[place + 1 :]}" for place in range(len(word))}
    patterns |= {f"{word[:place]}{word[place + 1 :]}" for place in range(len(word))}
    exchanged = [f"{word[:place]}{word[place + 1]}{word[place]}{word[place + 2 :]}" for place in range(len(word) - 1)]
    return {
        "shortest": len(word) - 1,
        "longest": len(word) + 1,
        "first_half": word[:half],
        "last_half": word[half:],
        "rest": len(word) - half,
        "patterns": sorted(patterns),
        "exchanged": exchanged,
    }


def _beginning_with(owner: int, term: SearchTerm) -> list[str]:
    span = {"from": term.word, "until": f"{term.word}{LAST_CHARACTER}"}
    return _fetch(BEGINNING, {"owner": owner, "most": MOST_LEXEMES, **span})


def stems_of(words: Iterable[str]) -> dict[str, str]:
    """Return the lexeme of each word, empty where it has none."""
    different = list(dict.fromkeys(words))
    return dict(zip(different, _stems(different), strict=True))


def _stems(words: Sequence[str]) -> list[str]:
    if not words:
        return []
    with connection.cursor() as cursor:
        cursor.execute(LEXEMES, {"language": search_language(), "words": list(words)})
        return [lexemes[0] if lexemes else "" for (lexemes,) in cursor.fetchall()]


def _fetch(statement: str, parameters: dict[str, Any]) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return [lexeme for (lexeme,) in cursor.fetchall()]
