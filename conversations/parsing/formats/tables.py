"""Tables and CSV: rows as lines that can be understood alone, `column: value; column: value`."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from conversations.core.documents.splitting import Block
from conversations.parsing.parsed import ReportProgress

DELIMITERS = ",;\t|"
SNIFFED_ROWS = 20
SNIFFED_CHARACTERS = 64 * 1024
FEWEST_ROWS, FEWEST_COLUMNS = 5, 3  # of a table whose name does not say that it is one


def row_lines(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a line for each row; the first row names the columns, if it can."""
    remaining = iter(rows)
    beginning = list(islice(remaining, 2))
    header: Sequence[str] = ()
    if len(beginning) == 2 and _is_header(beginning[0]):
        header, beginning = [cell.strip() for cell in beginning[0]], beginning[1:]
    for row in chain(beginning, remaining):
        if line := _row_line(header, row):
            yield line


def _is_header(row: Sequence[str]) -> bool:
    cells = [cell.strip() for cell in row]
    return len(set(cells)) == len(cells) and all(cell and not cell[0].isdigit() for cell in cells)


def _row_line(header: Sequence[str], row: Sequence[str]) -> str:
    cells = [" ".join(cell.split()) for cell in row]
    named = [f"{name}: {cell}" for name, cell in zip(header, cells, strict=False) if cell]
    unnamed = [cell for cell in cells[len(header) :] if cell]
    return "; ".join(named + unnamed)


def parse_csv(text: str, delimiter: str, report: ReportProgress) -> Iterator[Block]:
    _allow_long_cells(len(text) + 1)
    lines = text.split("\n")
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    for line in row_lines(reader):
        report(reader.line_num, len(lines))
        yield Block(line, lines=True)


def _allow_long_cells(characters: int) -> None:
    """Raise the most that a cell may have; it is one number for the whole process, so it is never lowered."""
    csv.field_size_limit(max(csv.field_size_limit(), characters))


def find_delimiter(text: str, *, is_named_as_table: bool) -> str | None:
    """Return the delimiter of the columns; None if the beginning of *text* is no table.

    A file that *is_named_as_table* is one in any case; another only if its rows leave no doubt.
    """
    widths = {delimiter: _widths(text, delimiter) for delimiter in DELIMITERS}
    even = {delimiter: found[0] for delimiter, found in widths.items() if len(set(found)) == 1}
    if even and (widest := max(even, key=lambda delimiter: even[delimiter])):
        rows, columns = len(widths[widest]), even[widest]
        if (is_named_as_table and columns > 1) or (rows >= FEWEST_ROWS and columns >= FEWEST_COLUMNS):
            return widest
    return (
        max(DELIMITERS, key=lambda delimiter: text.count(delimiter, 0, SNIFFED_CHARACTERS))
        if is_named_as_table
        else None
    )


def _widths(text: str, delimiter: str) -> list[int]:
    """Return how many columns the first rows have, but for the last of them, which may be cut."""
    _allow_long_cells(SNIFFED_CHARACTERS + 1)
    lines = text[:SNIFFED_CHARACTERS].splitlines(keepends=True)
    rows = [row for row in islice(csv.reader(lines, delimiter=delimiter), SNIFFED_ROWS) if row]
    return [len(row) for row in (rows[:-1] if len(rows) > 2 else rows)]
