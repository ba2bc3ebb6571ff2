"""Normalization of words for full-text search, the same for questions and for passages.

PostgreSQL stems words, in a language. Everything before that happens here: several forms of a character become one, and
scripts that put no spaces between words become all pairs of neighbouring characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from django.conf import settings

from conversations.core.text.unspaced_scripts import UNSPACED

# Grammatical particles of Chinese and Japanese: pairs with them would be noise.
PARTICLES = "的了吗呢吧么啊是在与和于のはがをにでと"
RUN = re.compile(rf"(?:(?![{PARTICLES}])[{UNSPACED}])+|[^\W_{UNSPACED}]+")
IS_UNSPACED = re.compile(rf"[{UNSPACED}]")
LONGEST_WORD = 100  # characters; what is longer is no word, and PostgreSQL refuses lexemes above 2 kB


def search_language() -> str:
    """Return the text search configuration in which documents are indexed from now on."""
    return str(settings.SEARCH_LANGUAGE)


def normalize_words(text: str) -> str:
    """Return *text* as words with spaces between them, and nothing that PostgreSQL could parse as anything else."""
    return " ".join(_words(unicodedata.normalize("NFKC", text)))


def _words(text: str) -> Iterator[str]:
    for match in RUN.finditer(text):
        run = match[0]
        if IS_UNSPACED.match(run) and len(run) > 1:
            yield from (run[start : start + 2] for start in range(len(run) - 1))
        else:
            yield run[:LONGEST_WORD]
