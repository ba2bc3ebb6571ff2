"""Comma-separated values that no spreadsheet takes for formulas.

A cell that begins with one of `STARTERS` is a formula to Excel, LibreOffice and Google Sheets, also behind quotes,
white space and what can't be seen. An apostrophe before it makes it text (OWASP, "CSV Injection", seen 2026-11-21). A
reader who takes semicolons or tabs for the separators, as Excel does in many countries, also begins a cell behind each
of them and at each line of a cell, so the apostrophe stands there too.
"""

from __future__ import annotations

import csv
import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

EXCEL_READS_UTF_8 = "\ufeff"  # where a file begins with it; else it takes it for an encoding of its country
STARTERS = "=+@|%\N{MINUS SIGN}\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH COMMERCIAL AT}"
HYPHENS = "\N{FULLWIDTH HYPHEN-MINUS}\N{SMALL HYPHEN-MINUS}-"
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
INVISIBLE = "\\s\"'`\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
FORMULA = re.compile(f"(^|[;\n\t])(?=[{INVISIBLE}]*[{STARTERS}{HYPHENS}]|[\t])")


def safe_cell(value: object) -> str:
    """Return *value* as the text of a cell. Numbers and dates stay what they are; None is empty."""
    match value:
        case None:
            return ""
        case Decimal():
            return f"{value:f}"
        case dt.date() | dt.time():
            return value.isoformat()
        case int() | float():
            return str(value)
    return _safe_text(str(value))


def _safe_text(text: str) -> str:
    """Return *text* without control characters, and with an apostrophe before whatever would begin a formula."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return FORMULA.sub(r"\1'", CONTROLS.sub("", lines))


def csv_lines(header: Sequence[object], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the file line by line, so that it may be longer than the memory is large."""
    writer = csv.writer(_Lines())
    yield writer.writerow([safe_cell(name) for name in header])
    for row in rows:
        yield writer.writerow([safe_cell(value) for value in row])


class _Lines:
    """A file that hands back what is written to it: `writerow` returns what `write` does."""

    def write(self, line: str) -> str:
        return line
