"""The tool `calculator`, and how values are written as digits."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction

from conversations.core.errors import ArgumentsInvalid
from conversations.tools.registry import tool

from .arithmetic import ArithmeticRefused, Value, evaluate

MOST_PLACES = 30
LONGEST_FRACTION = 40  # characters


@tool
def calculator(expression: str) -> str:
    """Calculate exactly: + - * / // % **, parentheses, sqrt, round, log, sin, factorial and such.

    Args:
        expression: For example (17 + 4) * 23 / 7
    """
    try:
        return as_digits(evaluate(expression))
    except ArithmeticRefused as error:
        raise ArgumentsInvalid(detail=str(error)) from error


def as_digits(value: Value) -> str:
    """Return a value as digits: exactly if 30 decimal places are enough, else rounded, with its fraction if short."""
    if isinstance(value, float):
        return f"{value:.15g}"
    if value.denominator == 1:
        return str(value.numerator)
    if (places := _places(value)) is not None:
        return _with_places(value, places)
    exactly = f"; exactly {value}" if len(str(value)) < LONGEST_FRACTION else ""
    return f"{_rounded(value)} (rounded{exactly})"


def _rounded(value: Fraction) -> str:
    """Return 15 digits of a value that may be beyond what a float can be."""
    with localcontext(Context(prec=15)):
        return str(Decimal(value.numerator) / Decimal(value.denominator))


def _places(value: Fraction) -> int | None:
    """Return how many decimal places *value* takes, None if there is no end of them or there are too many."""
    return next((places for places in range(1, MOST_PLACES + 1) if 10**places % value.denominator == 0), None)


def _with_places(value: Fraction, places: int) -> str:
    digits = f"{abs(int(value * 10**places)):0{places + 1}}"
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"
