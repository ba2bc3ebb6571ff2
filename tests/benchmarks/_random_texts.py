"""Random texts of every kind: all scripts, emoji, controls, code, and what tokenizers stumble over."""

from __future__ import annotations

import bisect
import math
import random

from conversations.core.window.budget import CountText

LONGEST_CHARACTERS = 30_000
COUNT = 250
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|endofprompt|>", "<|fim_prefix|>", "<|start|>assistant<|message|>", "<s>")
EMOJI = ("😀", "👩‍👩‍👧‍👦", "👍🏽", "🇨🇳", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "❤️", "1️⃣", "🤷🏿‍♀️", "\ufe0f", "\u200d")
CONTROLS = (*map(chr, range(32)), "\x7f", "\x85", "\u200b", "\u200f", "\u202e", "\u2028", "\ufeff", "\ufffd", "\uffff")
BLANKS = (" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u3000", " " * 40, "\n" * 20)
WORDS = ("the", " quick", " brown", " fox", " don't", " 2026", ", ", ". ", "?\n", " I'll", " e.g. ", "Straße", " naïve")
CODE = (
    "{",
    "}",
    '"key": ',
    "\\n",
    "\\u00e9",
    "</",
    "```python\n",
    "    return ",
    "==",
    "0x1F",
    "&amp;",
    "$a_1$",
    "| --- |",
)
MARKS = ("[…]", "Question:\n", "[1] ", "\n\n", "…", "。", "！")
SCRIPTS = (
    (0x21, 0x7E),  # ASCII
    (0xC0, 0x24F),  # Latin with accents
    (0x300, 0x36F),  # marks that join the letter before
    (0x370, 0x3FF),  # Greek
    (0x400, 0x4FF),  # Cyrillic
    (0x5D0, 0x5EA),  # Hebrew
    (0x620, 0x6FF),  # Arabic
    (0x900, 0x97F),  # Devanagari
    (0xE01, 0xE5B),  # Thai
    (0x1200, 0x137F),  # Ethiopic
    (0x3041, 0x30FF),  # Kana
    (0x4E00, 0x9FFF),  # Han
    (0xAC00, 0xD7A3),  # Hangul
    (0xE000, 0xF8FF),  # private use
    (0x10000, 0x10FFFF),  # the other planes, unassigned and noncharacters included
)
PIECES = (SPECIAL, EMOJI, CONTROLS, BLANKS, WORDS, WORDS, WORDS, CODE, MARKS)


class Texts:
    """A stock of random texts with their tokens, to draw from by size."""

    def __init__(self, randomly: random.Random, count_text: CountText) -> None:
        made = {_text(randomly) for _ in range(COUNT)} | {"a", "?", "好", "\n"}
        self._by_tokens = sorted((count_text(text), text) for text in made)

    def draw(self, randomly: random.Random, *, most_tokens: float) -> str:
        """Return a text of one to about *most_tokens*; all orders of magnitude are as likely."""
        wanted = math.exp(randomly.uniform(0, math.log(max(most_tokens, 1))))
        place = bisect.bisect_right(self._by_tokens, (wanted, "\U0010ffff"))
        return self._by_tokens[randomly.randrange(max(0, place - 4), max(1, place))][1]


def _text(randomly: random.Random) -> str:
    """Return a text of one to many thousand characters, of up to three kinds."""
    characters = int(math.exp(randomly.uniform(0, math.log(LONGEST_CHARACTERS))))
    kinds = [_pieces(randomly) for _ in range(randomly.randint(1, 3))]
    parts = [_some(randomly, randomly.choice(kinds), -(-characters // 4)) for _ in range(4)]
    return "".join(parts)[:characters]


def _some(randomly: random.Random, pieces: list[str], characters: int) -> str:
    average = sum(map(len, pieces)) / len(pieces)
    return "".join(randomly.choices(pieces, k=math.ceil(characters / average)))


def _pieces(randomly: random.Random) -> list[str]:
    kind = randomly.random()
    if kind < 0.5:
        return list(randomly.choice(PIECES))
    first, last = randomly.choice(SCRIPTS)
    if kind < 0.6:  # one character again and again: the worst case of the merging
        return [chr(randomly.randint(first, last))]
    return [chr(randomly.randint(first, last)) for _ in range(40)] + [" "] * 6
