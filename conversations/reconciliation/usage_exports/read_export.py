"""Read an export line by line, so that it may be larger than memory."""

from __future__ import annotations

import csv
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b
from typing import TYPE_CHECKING, BinaryIO

from conversations.reconciliation.comparison import DayAndModel, Measure, plain_name

from .cells import read_amount, read_day
from .errors import UnreadableExport
from .formats import ExportFormat, recognise

if TYPE_CHECKING:
    from _csv import Reader as CsvReader

SEPARATORS = ",;\t|"
LONGEST_LINE_BYTES = 256 * 1024
MOST_PLACES = 100_000
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")  # names are printed on a terminal, which obeys some
COST_IN_ANOTHER_CURRENCY = re.compile(r"(cost|amount)_(?!usd$|value$|currency$)[a-z]{3}")


@dataclass(frozen=True, slots=True)
class UsageExport:
    """The content of a file: sums by day and model, for the *measures* that it has."""

    format: ExportFormat
    measures: tuple[Measure, ...]
    amounts: Mapping[DayAndModel, Mapping[Measure, Decimal]]


def read_export(
    file: BinaryIO, *, format_name: str | None = None, same_as: Mapping[str, str] | None = None
) -> UsageExport:
    """Read a file of any known format. Raises `UnreadableExport`, with the line, where it would have to guess."""
    rows = _rows(file)
    columns = _columns(rows)
    export_format = recognise(columns, name=format_name)
    sums = _Sums(export_format, columns, same_as or {})
    for line, cells in rows:
        if len(cells) != len(columns):
            raise UnreadableExport(f"{len(cells)} cells, where the header has {len(columns)}.", line=line)
        sums.add(dict(zip(columns, cells, strict=True)), line)
    sums.check_nothing_is_twice()
    if not sums.amounts:
        raise UnreadableExport("The file has a header and no usage.")
    return UsageExport(export_format, sums.measures, sums.amounts)


def _columns(rows: Iterator[tuple[int, list[str]]]) -> list[str]:
    _, header = next(rows, (0, None))
    if header is None:
        raise UnreadableExport("The file is empty.")
    columns = ["_".join(name.lower().split()) for name in header]
    for column in columns:
        if COST_IN_ANOTHER_CURRENCY.fullmatch(column):
            raise UnreadableExport(
                f"the column {column} is in another currency; amounts must be in US dollars.", line=1
            )
    if twice := {name for name, count in Counter(columns).items() if name and count > 1}:
        raise UnreadableExport(f"the column {min(twice)} is there twice.", line=1)
    return columns


def _rows(file: BinaryIO) -> Iterator[tuple[int, list[str]]]:
    """Yield number and cells of each row that is not empty, the header first."""
    lines = _lines(file)
    first = next(lines, "")
    separator = max(SEPARATORS, key=first.count)
    reader = csv.reader(_again(first, lines), delimiter=separator, strict=True)
    while (cells := _next_row(reader)) is not None:
        if any(cell.strip() for cell in cells):
            yield reader.line_num, cells


def _next_row(reader: CsvReader) -> list[str] | None:
    began = reader.line_num + 1
    try:
        return next(reader, None)
    except csv.Error as error:
        raise UnreadableExport("a quotation mark is not closed, or stands where none may.", line=began) from error


def _again(first: str, rest: Iterator[str]) -> Iterator[str]:
    if first:
        yield first
    yield from rest


def _lines(file: BinaryIO) -> Iterator[str]:
    number = 0
    while raw := file.readline(LONGEST_LINE_BYTES + 1):
        number += 1
        if len(raw) > LONGEST_LINE_BYTES:
            raise UnreadableExport("is too long for a line of a CSV file.", line=number)
        yield _decoded(raw, number)


def _decoded(raw: bytes, number: int) -> str:
    if b"\x00" in raw:
        raise UnreadableExport("this is no text; save the file as CSV in UTF-8.", line=number)
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableExport("this is not UTF-8; save the file as CSV in UTF-8.", line=number) from error
    if CONTROLS.search(text):
        raise UnreadableExport("there are control characters, which no name or number has.", line=number)
    return text


class _Sums:
    """Adds up the rows of a file as they come."""

    def __init__(self, export_format: ExportFormat, columns: Sequence[str], same_as: Mapping[str, str]) -> None:
        self.format = export_format
        self.measures = export_format.measures_in(columns)
        self.amounts: dict[DayAndModel, dict[Measure, Decimal]] = {}
        self._same_as = same_as
        self._named_by = [name for name in columns if name not in export_format.amount_columns]
        self._seen = _Seen()

    def add(self, row: Mapping[str, str], line: int) -> None:
        amounts = {measure: self._amount(row, measure, line) for measure in self.measures}
        if not any(amounts.values()) and not row[self.format.model].strip():
            return  # an hour or a day without usage
        self._check_currency(row, line)
        place = self._place(row, line)
        self._seen.add([row[name] for name in self._named_by], line)
        sums = self.amounts.setdefault(place, dict.fromkeys(self.measures, Decimal(0)))
        if len(self.amounts) > MOST_PLACES:
            raise UnreadableExport(f"more than {MOST_PLACES:,} days and models; choose a shorter time.", line=line)
        for measure, amount in amounts.items():
            sums[measure] += amount

    def _amount(self, row: Mapping[str, str], measure: Measure, line: int) -> Decimal:
        if measure == Measure.REQUESTS and self.format.rows_are_requests:
            return Decimal(1)
        columns = self.format.measures[measure]
        return sum((read_amount(row.get(column, ""), measure, line=line) for column in columns), Decimal(0))

    def _place(self, row: Mapping[str, str], line: int) -> DayAndModel:
        model = row[self.format.model]
        if self.format.model_ends_at:
            model = model.partition(self.format.model_ends_at)[0]
        if not model.strip():
            raise UnreadableExport("no language model is named; export the figures grouped by model.", line=line)
        return DayAndModel(read_day(row[self.format.day], line=line), plain_name(model[:200], self._same_as))

    def _check_currency(self, row: Mapping[str, str], line: int) -> None:
        currency = row[self.format.currency].strip().lower() if self.format.currency else ""
        if currency not in ("", "usd"):
            raise UnreadableExport(f"“{currency[:20]}” is another currency; amounts must be in US dollars.", line=line)

    def check_nothing_is_twice(self) -> None:
        if twice := self._seen.first_twice():
            raise UnreadableExport(f"tells the same as line {twice[0]:,}: it would be counted twice.", line=twice[1])


class _Seen:
    """Rows by a hash of what names them, in 16 bytes each, so that millions of them need little memory."""

    PARTS = 256

    def __init__(self) -> None:
        self._parts = [(array("Q"), array("Q")) for _ in range(self.PARTS)]

    def add(self, cells: Iterable[str], line: int) -> None:
        digest = int.from_bytes(blake2b("\x1f".join(cells).encode(), digest_size=8).digest())
        digests, lines = self._parts[digest % self.PARTS]
        digests.append(digest)
        lines.append(line)

    def first_twice(self) -> tuple[int, int] | None:
        """Return the lines of two rows that are the same, the earliest such pair."""
        pairs = [pair for digests, lines in self._parts if (pair := _first_pair(digests, lines))]
        return min(pairs, key=lambda pair: pair[1], default=None)


def _first_pair(digests: Iterable[int], lines: Iterable[int]) -> tuple[int, int] | None:
    first_lines: dict[int, int] = {}
    for digest, line in zip(digests, lines, strict=True):
        if (first := first_lines.setdefault(digest, line)) != line:
            return first, line
    return None
