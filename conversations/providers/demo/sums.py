"""Sums in a question, as a calculator takes them: "What is 17 × 23?" asks for `17 * 23`."""

from __future__ import annotations

import re

MOST_SUMS = 4
_IN_SIGNS = (
    (re.compile(r"\s{0,3}(?:\btimes\b|\bmultiplied by\b|乘以|乘)\s{0,3}", re.IGNORECASE), " * "),
    (re.compile(r"\s{0,3}(?:\bdivided by\b|除以)\s{0,3}", re.IGNORECASE), " / "),
    (re.compile(r"\s{0,3}(?:\bplus\b|加上?)\s{0,3}", re.IGNORECASE), " + "),
    (re.compile(r"\s{0,3}(?:\bminus\b|减去?)\s{0,3}", re.IGNORECASE), " - "),
    (re.compile(r"(?<=\d)\s{0,3}(?:%|\bper ?cent\b) of\s{1,3}(?=\d)", re.IGNORECASE), " / 100 * "),
    (re.compile(r"(?<=[\d)])\s{0,3}[x×·∙]\s{0,3}(?=[\d(])"), " * "),
    (re.compile(r"÷"), " / "),
    (re.compile(r"[−–]"), "-"),
    (re.compile(r"\^"), "**"),
    (re.compile(r"（"), "("),
    (re.compile(r"）"), ")"),
    (re.compile(r"(?<=\d),(?=\d{3}(?!\d))"), ""),
)
_ASKS_FOR_RESULT = re.compile(
    r"\bwhat(?:'s|’s| is| are)\b|\bhow much\b|\b(?:calculate|compute|solve|work out|add up)\b|=|多少|等于|计算|算",
    re.IGNORECASE,
)
_SUM = re.compile(
    r"(?<![\w.])[(\-]{0,5}\d[\d\s.+\-*/()]{0,200}[\d)](?=\s{0,3}(?:[?？=.,，。;；!！]|and\b|$|等于|是|得|和|又))"
)
_LETTER = re.compile(r"[^\W\d_]")
_OPERATOR = re.compile(r"[\d)]\s*(?:\*\*|[+\-*/])\s*[(\-]*\d")


def sums_in(question: str) -> list[str]:
    """Return the sums that *question* asks for, at most `MOST_SUMS`, in signs that every calculator knows."""
    in_signs = question
    for words, signs in _IN_SIGNS:
        in_signs = words.sub(signs, in_signs)
    if not _ASKS_FOR_RESULT.search(question) and _LETTER.search(in_signs):
        return []
    found = (" ".join(match[0].split()) for match in _SUM.finditer(in_signs))
    return [each for each in found if _OPERATOR.search(each)][:MOST_SUMS]
