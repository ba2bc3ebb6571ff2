"""Parse cells with days and numbers: accepted if they have one meaning, refused if they have two."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal

from conversations.reconciliation.comparison import Measure

from .errors import UnreadableExport

LONGEST_CELL = 80
EARLIEST, LATEST = dt.date(2000, 1, 1), dt.date(2999, 12, 31)  # there is no usage outside of these
LARGEST = Decimal(10) ** 15
NUMBER = re.compile(r"\d+(\.\d*)?(e[+-]?\d{1,2})?", re.ASCII | re.IGNORECASE)
IN_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?", re.ASCII)
EPOCH_SECONDS = re.compile(r"\d{10}", re.ASCII)
EPOCH_MILLISECONDS = re.compile(r"\d{13}", re.ASCII)
DAY_OR_MONTH_FIRST = re.compile(r"\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}.*", re.DOTALL)
NOT_NUMBERS = {"nan", "inf", "infinity", "+inf", "-inf", "-infinity", "null", "none", "n/a"}
OTHER_CURRENCY = re.compile(r"[€£¥₹₩]|\b(?!usd\b)[a-z]{3}\b", re.IGNORECASE)


def read_day(cell: str, *, line: int) -> dt.date:
    """Return the day in UTC of a day, a moment (without a zone it is UTC), or seconds since 1970."""
    text = cell.strip()
    try:
        if EPOCH_SECONDS.fullmatch(text):
            return dt.datetime.fromtimestamp(int(text), dt.UTC).date()
        if EPOCH_MILLISECONDS.fullmatch(text):
            return dt.datetime.fromtimestamp(int(text) / 1000, dt.UTC).date()
        day = _iso_day(text.removesuffix(" UTC"))
    except (ValueError, OverflowError) as error:
        raise UnreadableExport(_why_no_day(text), line=line) from error
    if not EARLIEST <= day <= LATEST:
        raise UnreadableExport(f"“{_short(text)}” is a day of which there is no usage.", line=line)
    return day


def _iso_day(text: str) -> dt.date:
    moment = dt.datetime.fromisoformat(text)
    return (moment.astimezone(dt.UTC) if moment.tzinfo else moment).date()


def _why_no_day(text: str) -> str:
    if not text:
        return "there is no day."
    if DAY_OR_MONTH_FIRST.fullmatch(text):
        return f"“{_short(text)}” may be read in two ways; write days as 2026-03-04."
    return f"“{_short(text)}” is not a day; write days as 2026-03-04."


def read_amount(cell: str, measure: Measure, *, line: int) -> Decimal:
    """Return the number; an empty cell is 0. Of tokens and requests there are only whole ones."""
    text = cell.strip()
    if not text:
        return Decimal(0)
    amount = _number(text, measure, line)
    if amount > LARGEST:
        raise UnreadableExport(f"“{_short(text)}” is too large for {_words(measure)}.", line=line)
    if measure != Measure.COST and amount != amount.to_integral_value():
        raise UnreadableExport(f"“{_short(text)}” is no whole number of {_words(measure)}.", line=line)
    return amount


def _number(text: str, measure: Measure, line: int) -> Decimal:
    plain = text.removeprefix("$") if measure == Measure.COST else text
    if len(plain) <= LONGEST_CELL:
        if NUMBER.fullmatch(plain):
            return Decimal(plain)
        if IN_THOUSANDS.fullmatch(plain) and _has_one_meaning(plain, measure):
            return Decimal(plain.replace(",", ""))
    raise UnreadableExport(_why_no_number(text, measure), line=line)


def _has_one_meaning(text: str, measure: Measure) -> bool:
    """Return whether commas can only part thousands: 1,234 dollars may be a dollar and a bit."""
    return measure != Measure.COST or "." in text or text.count(",") > 1


def _why_no_number(text: str, measure: Measure) -> str:
    shown = _short(text)
    if text.lower() in NOT_NUMBERS:
        return f"“{shown}” is not a number of {_words(measure)}."
    if text.startswith(("-", "\N{MINUS SIGN}", "(")):
        return f"“{shown}” is negative; {_words(measure)} can't be."
    if OTHER_CURRENCY.search(text):
        return f"“{shown}” is in another currency; amounts must be in US dollars."
    if "," in text:
        return f"“{shown}” may be read in two ways; write numbers without thousands separators, as 1234.5."
    return f"“{shown}” is not a number of {_words(measure)}."


def _words(measure: Measure) -> str:
    return "US dollars" if measure == Measure.COST else measure.value.replace("_", " ")


def _short(text: str) -> str:
    """Return the beginning of what may be anything, fit to be printed."""
    printable = "".join(character if character.isprintable() else " " for character in text[:LONGEST_CELL])
    return printable if len(text) <= LONGEST_CELL else printable + "…"
