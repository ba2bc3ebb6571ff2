"""Days and numbers with one meaning are read, those with two are refused."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from conversations.reconciliation.comparison import Measure
from conversations.reconciliation.usage_exports.cells import read_amount, read_day
from conversations.reconciliation.usage_exports.errors import UnreadableExport


@pytest.mark.parametrize(
    "cell",
    [
        "2026-03-04",
        " 2026-03-04 ",
        "20260304",
        "2026-03-04T23:59:59Z",
        "2026-03-04 02:37:51.271",
        "2026-03-04 02:37:51 UTC",
        "2026-03-05T01:00:00+02:00",
        "2026-03-03T23:30:00-01:00",
        "1772582400",
        "1772582400000",
    ],
)
def test_a_day_is_one_of_utc(cell):
    assert read_day(cell, line=2) == dt.date(2026, 3, 4)


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("", "there is no day"),
        ("03/04/2026", "may be read in two ways"),
        ("3.4.26", "may be read in two ways"),
        ("04-03-2026 10:00", "may be read in two ways"),
        ("yesterday", "is not a day"),
        ("2026-02-30", "is not a day"),
        ("0001-01-01T00:00:00+14:00", "is not a day"),
        ("9" * 50, "is not a day"),
        ("=1+1\x1b[31m", "is not a day"),
    ],
)
def test_what_is_no_day_is_refused_with_its_line(cell, sentence):
    with pytest.raises(UnreadableExport, match=f"Line 7: .*{sentence}"):
        read_day(cell, line=7)


@pytest.mark.parametrize(
    ("cell", "measure", "amount"),
    [
        ("", Measure.INPUT, "0"),
        ("1234", Measure.INPUT, "1234"),
        ("1234.0", Measure.INPUT, "1234"),
        ("1,234,567", Measure.INPUT, "1234567"),
        ("1,234", Measure.OUTPUT, "1234"),
        ("0.8958740000000000", Measure.COST, "0.895874"),
        ("4.5e-06", Measure.COST, "0.0000045"),
        ("$1.20", Measure.COST, "1.20"),
        ("1,234.56", Measure.COST, "1234.56"),
        ("1,234,567", Measure.COST, "1234567"),
    ],
)
def test_a_number_with_one_meaning_is_read(cell, measure, amount):
    assert read_amount(cell, measure, line=2) == Decimal(amount)


@pytest.mark.parametrize(
    ("cell", "measure", "sentence"),
    [
        ("1,234", Measure.COST, "two ways"),
        ("1,5", Measure.COST, "two ways"),
        ("1.234,56", Measure.COST, "two ways"),
        ("1.5", Measure.INPUT, "no whole number of input tokens"),
        ("-5", Measure.OUTPUT, "negative"),
        ("-0.01", Measure.COST, "negative"),
        ("NaN", Measure.COST, "not a number of US dollars"),
        ("Infinity", Measure.INPUT, "not a number of input tokens"),
        ("€1.20", Measure.COST, "another currency"),
        ("1.20 EUR", Measure.COST, "another currency"),
        ("9" * 20, Measure.INPUT, "too large"),
        ("9" * 5_000, Measure.INPUT, "not a number"),
        ("1e99", Measure.COST, "too large"),
        ("0x10", Measure.INPUT, "not a number"),
        ("١٢٣", Measure.INPUT, "not a number"),
        ("twelve", Measure.REQUESTS, "not a number of requests"),
    ],
)
def test_what_is_no_number_is_refused_with_its_line(cell, measure, sentence):
    with pytest.raises(UnreadableExport, match=f"Line 7: .*{sentence}"):
        read_amount(cell, measure, line=7)
