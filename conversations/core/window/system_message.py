"""The tokens of the system message: what each text in it adds to the prompt."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from conversations.core.prompt.system_text import SystemTexts

from .budget import CountText

SHORT_CHARACTERS = 4_000
MOST_REMEMBERED = 256  # at most 4 MB


class SystemTokens(NamedTuple):
    """The tokens of the texts of the system message; the first of them has those of its format, too."""

    system_prompt: int = 0
    about_me: int = 0
    notes: int = 0


def count_system(texts: SystemTexts, *, overhead_tokens: int, count_text: CountText) -> SystemTokens:
    """Return what each of *texts* adds to those before it: together, what the whole message takes.

    Of short texts it is remembered: each window of a conversation has the same.
    """
    count = _count_short if sum(map(len, texts)) <= SHORT_CHARACTERS else _count
    return count(texts, overhead_tokens, count_text)


def _count(texts: SystemTexts, overhead_tokens: int, count_text: CountText) -> SystemTokens:
    tokens = 0
    so_far = [tokens]
    for number, text in enumerate(texts, start=1):
        if text:
            tokens = overhead_tokens + count_text(SystemTexts(*texts[:number]).render())
        so_far.append(tokens)
    return SystemTokens(*(after - before for before, after in pairwise(so_far)))


_count_short = lru_cache(maxsize=MOST_REMEMBERED)(_count)
