"""Names of files are made fit to be stored, shown and downloaded under."""

from __future__ import annotations

import pytest

from conversations.core.text.file_names import LONGEST_NAME, NAMELESS, clean_file_name


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("notes.txt", "notes.txt"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ada\\plan.pdf", "plan.pdf"),
        ("a\x00b.txt", "ab.txt"),
        ("a\r\nSet-Cookie: b=c.txt", "aSet-Cookie: b=c.txt"),
        ("photo\u202egpj.exe", "photogpj.exe"),
        ("\u2066x\u2069\u200f.md", "x.md"),
        ("half \ud800 emoji.txt", "half emoji.txt"),
        ("  two   blanks .txt", "two blanks .txt"),
        ("e\u0301te\u0301.pdf", "\u00e9t\u00e9.pdf"),
        (".hidden", "hidden"),
        ("a\u200bb\U000e0041.txt", "ab.txt"),
        ("نیم\u200cفاصله.txt", "نیم\u200cفاصله.txt"),
    ],
)
def test_what_no_name_should_have_is_taken_out(raw, cleaned):
    assert clean_file_name(raw) == cleaned


@pytest.mark.parametrize(
    "raw", ["", " ", "\x00", ".", "..", "/", "../", "\u202e", "a/", "\ud800", "\u200b", "\u200d \u200c", "\u3164"]
)
def test_a_name_is_never_blank(raw):
    assert clean_file_name(raw) == NAMELESS


@pytest.mark.parametrize("letter", ["a", "字", "👩"])
def test_of_a_long_name_the_ending_stays(letter):
    cleaned = clean_file_name(letter * 300 + ".pdf")
    assert len(cleaned) == LONGEST_NAME
    assert cleaned.endswith(f"{letter}.pdf")


def test_a_dot_far_from_the_end_begins_no_ending():
    assert clean_file_name("a." + "b" * 300) == "a." + "b" * 253
