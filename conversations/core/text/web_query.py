"""What a question is searched for on the web: its own words, made by rule and not by a language model."""

from __future__ import annotations

import re

from .invisible_characters import keep_visible
from .unspaced_scripts import UNSPACED

MOST_CHARACTERS = 300  # of a query; search engines cut longer ones, each in another place
READ_CHARACTERS = 4_000  # of a question; a longer one was pasted
FEW_WORDS = 4  # “and when is that one?” has more, but few questions of so many words ask for nothing by themselves
WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
# By these at the beginning of a word SearXNG chooses engines (!), languages (:), timeouts (<) or leads elsewhere (!!).
ENGINE_MARKS = "!:<?"


def make_web_query(question: str, *, previous_question: str = "") -> str:
    """Return what to search for; blank where *question* has no word.

    A question of few words takes the one before it along, as far as there is room.
    """
    query = _plain(question)
    words = WORD.findall(query)
    if not words:
        return ""
    if len(words) <= FEW_WORDS:
        before = _shorten(_plain(previous_question), MOST_CHARACTERS - len(query) - 1)
        query = f"{before} {query}".strip()
    return _shorten(query, MOST_CHARACTERS)


def _plain(question: str) -> str:
    words = keep_visible(question[:READ_CHARACTERS]).split()
    return " ".join(filter(None, (word.lstrip(ENGINE_MARKS) for word in words)))


def _shorten(text: str, most: int) -> str:
    """Return as much of the beginning of *text* as fits, up to the end of a word."""
    if len(text) <= most:
        return text
    head = text[: max(most, 0)]
    return head.rpartition(" ")[0] or head
