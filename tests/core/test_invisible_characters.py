"""Invisible characters are shown by name."""

from __future__ import annotations

import pytest

from conversations.core.text.invisible_characters import visible_pieces


def spelled(text):
    return "".join(f"[{piece.text}]" if piece.is_invisible else piece.text for piece in visible_pieces(text))


@pytest.mark.parametrize(
    "text", ["", "plain", 'two\n\tlines of {"a": "é 中文 ½ 𝒳"}', "naïve", "العربية", "अनुच्छेद", "\N{NO-BREAK SPACE}"]
)
def test_what_is_seen_stays_as_it_is(text):
    assert spelled(text) == text


@pytest.mark.parametrize(
    "character",
    [
        "\x00", "\x1b", "\x7f", "\x85", "\r",
        "\N{RIGHT-TO-LEFT OVERRIDE}", "\N{LEFT-TO-RIGHT ISOLATE}", "\N{ARABIC LETTER MARK}",
        "\N{ZERO WIDTH SPACE}", "\N{ZERO WIDTH JOINER}", "\N{WORD JOINER}", "\N{ZERO WIDTH NO-BREAK SPACE}",
        "\N{SOFT HYPHEN}", "\N{COMBINING GRAPHEME JOINER}", "\N{HANGUL FILLER}", "\N{BRAILLE PATTERN BLANK}",
        "\N{VARIATION SELECTOR-16}", "\N{VARIATION SELECTOR-17}", "\N{TAG LATIN SMALL LETTER A}",
        "\N{LINE SEPARATOR}", "\N{PARAGRAPH SEPARATOR}", "\ue000", "\ud800", "\U0010ffff",
    ],
)  # fmt: skip
def test_what_no_one_sees_is_named_where_it_stands(character):
    assert spelled(f"a{character}b") == f"a[U+{ord(character):04X}]b"


def test_nothing_is_left_out():
    text = "pay\u202e \u200b\u200bnow\U000e0041"
    assert spelled(text) == "pay[U+202E] [U+200B][U+200B]now[U+E0041]"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("to: a\N{NO-BREAK SPACE}" + "\N{EM SPACE}" * 3000 + "b", "to: a[U+00A0][U+2003×3000]b"),
        ("a\N{EM SPACE}  \N{EM SPACE}  \N{EM SPACE}b", "a[U+2003][U+0020×2][U+2003][U+0020×2][U+2003]b"),
        ("\N{IDEOGRAPHIC SPACE}\N{IDEOGRAPHIC SPACE}中文", "\N{IDEOGRAPHIC SPACE}\N{IDEOGRAPHIC SPACE}中文"),
        ("a" + " " * 3000 + "b", "a" + " " * 3000 + "b"),
    ],
)
def test_blanks_that_would_push_what_follows_out_of_sight_are_counted(text, seen):
    assert spelled(text) == seen
