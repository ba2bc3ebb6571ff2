"""A reason says something, on one line."""

from __future__ import annotations

import pytest

from conversations.core.errors import ReasonInvalid
from conversations.core.text.reading_reason import clean_line, clean_reason


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("  a customer\r\nasked\tfor help ", "a customer asked for help"),
        ("a\x00b\u202ec\u200bd\ud800e", "abcde"),
        ("caf\u0065\u0301", "caf\u00e9"),
        ("\u200b \u2028 \x07", ""),
        ("家族\u3000が", "家族 が"),
    ],
)
def test_a_line_has_nothing_that_no_one_sees(raw, line):
    assert clean_line(raw) == line


@pytest.mark.parametrize("raw", ["", " " * 50, "too short", "\u200b" * 50, "\u0301" * 30, "x" * 501])
def test_what_says_nothing_or_too_much_is_no_reason(raw):
    with pytest.raises(ReasonInvalid):
        clean_reason(raw)


@pytest.mark.parametrize("raw", ["ten chars!!", "请看看这个人的问题好吗", "x" * 500])
def test_ten_characters_that_can_be_seen_are_a_reason(raw):
    assert clean_reason(raw) == raw
