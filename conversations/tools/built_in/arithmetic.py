"""Arithmetic as people write it, exact as long as it can be, and refused before it grows too large.

    17 × 23 = 391      0.1 + 0.2 = 0.3      1 / 3 = 1/3      2 ^ 0.5 = 1.4142135623730951

A value is a fraction, or a float from where on only that can be known. Names are functions and constants of the tables
here and nothing else; what is written is parsed by Python and never run by it.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Final

Value = Fraction | float

LONGEST_EXPRESSION = 1_000  # characters
MOST_BITS = 14_000  # of a numerator or denominator: 4,214 digits, of the 4,300 that Python writes
LARGEST_FACTORIAL = 1_000
LARGEST_EXPONENT = 4_000  # of ten, in a number as it is written
WRITTEN_OTHERWISE: Final = str.maketrans(
    {"×": "*", "·": "*", "⋅": "*", "÷": "/", "∕": "/", "−": "-", "–": "-", "√": "sqrt"}
)


class ArithmeticRefused(Exception):
    """There is no value, for the reason that this says."""


def evaluate(expression: str) -> Value:
    """Return the value of *expression*. Raises `ArithmeticRefused`."""
    if len(expression) > LONGEST_EXPRESSION:
        raise ArithmeticRefused(f"It is longer than {LONGEST_EXPRESSION} characters.")
    source = expression.translate(WRITTEN_OTHERWISE).replace("^", "**").replace("π", "pi").strip()
    try:
        return _value_of(ast.parse(source, mode="eval").body, source)
    except ArithmeticRefused:
        raise
    except ZeroDivisionError as error:
        raise ArithmeticRefused("It divides by zero.") from error
    except OverflowError as error:
        raise ArithmeticRefused(TOO_LARGE) from error
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ArithmeticRefused("It can't be read. Write it such as (2 + 3) * 4 ** 2, without units.") from error
    except (ValueError, TypeError) as error:
        raise ArithmeticRefused(f"It has no value: {error}.") from error


TOO_LARGE = "The numbers get too large."


def _value_of(node: ast.expr, source: str) -> Value:
    match node:
        case ast.Constant():
            return _number(ast.get_source_segment(source, node) or "")
        case ast.Name(id=name) if name in CONSTANTS:
            return CONSTANTS[name]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in SIGNS:
            return SIGNS[type(op)](_value_of(operand, source))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return _bounded(OPERATORS[type(op)](_value_of(left, source), _value_of(right, source)))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            return _bounded(FUNCTIONS[name](*(_value_of(each, source) for each in arguments)))
    unknown = (ast.get_source_segment(source, node) or "")[:40]
    raise ArithmeticRefused(f"{unknown!r} is not known here. Functions are {', '.join(FUNCTIONS)}.")


def _number(digits: str) -> Fraction:
    """Return a number exactly as it is written, which a float would not be."""
    try:
        number = Decimal(digits)
    except InvalidOperation:
        raise ArithmeticRefused(f"{digits[:40]!r} is no number.") from None
    if not number.is_finite() or abs(number.adjusted()) > LARGEST_EXPONENT:
        raise ArithmeticRefused(TOO_LARGE)
    return Fraction(number)


def _bounded(value: Any) -> Value:
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        raise ArithmeticRefused("It has no real value.")
    if isinstance(value, float):
        return value
    exact = Fraction(value)
    if _bits(exact) > MOST_BITS:
        raise ArithmeticRefused(TOO_LARGE)
    return exact


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _power(base: Value, exponent: Value) -> Any:
    if isinstance(exponent, Fraction) and exponent.denominator == 1 and isinstance(base, Fraction):
        if abs(exponent) * (_bits(base) - (_bits(base) == 1)) > MOST_BITS:
            raise ArithmeticRefused(TOO_LARGE)
        return base ** int(exponent)
    if exponent == Fraction(1, 2):
        return _root(base)
    return float(base) ** float(exponent)


def _root(value: Value) -> Value:
    if isinstance(value, Fraction) and value >= 0:
        above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if above**2 == value.numerator and below**2 == value.denominator:
            return Fraction(above, below)
    return math.sqrt(value)


def _factorial(value: Value) -> int:
    number = _whole(value)
    if number > LARGEST_FACTORIAL:
        raise ArithmeticRefused(TOO_LARGE)
    return math.factorial(number)


def _whole(value: Value) -> int:
    if value != int(value):
        raise ArithmeticRefused("A whole number is needed.")
    return int(value)


def _rounded(value: Value, digits: Value = Fraction(0)) -> Value:
    """Round as people do at school: halves go away from zero."""
    places = _whole(digits)
    if abs(places) > LARGEST_EXPONENT:
        raise ArithmeticRefused(TOO_LARGE)
    unit = Fraction(10) ** -places
    whole = math.floor(abs(Fraction(value)) / unit + Fraction(1, 2))
    return unit * (whole if value >= 0 else -whole)


def _logarithm(value: Value, base: Value = math.e) -> float:
    return _exact_logarithm(value) / _exact_logarithm(base)


def _exact_logarithm(value: Value) -> float:
    """Return the natural logarithm, also of fractions that no float can hold."""
    if isinstance(value, Fraction) and value > 0:
        return math.log(value.numerator) - math.log(value.denominator)
    return math.log(value)


def _least_common_multiple(*numbers: int) -> int:
    """Return what `math.lcm` does, number by number: of large ones it grows for a second in which nothing else runs."""
    least = 1
    for number in numbers:
        if (least := math.lcm(least, number)).bit_length() > MOST_BITS:
            raise ArithmeticRefused(TOO_LARGE)
    return least


def _of_whole(function: Callable[..., int]) -> Callable[..., int]:
    return lambda *values: function(*map(_whole, values))


CONSTANTS: Final[dict[str, Value]] = {"pi": math.pi, "e": math.e, "tau": math.tau}
SIGNS: Final[dict[type, Callable[[Any], Value]]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
OPERATORS: Final[dict[type, Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "abs": abs,
    "round": _rounded,
    "floor": math.floor,
    "ceil": math.ceil,
    "min": min,
    "max": max,
    "sqrt": _root,
    "exp": math.exp,
    "ln": _exact_logarithm,
    "log": _logarithm,
    "log10": lambda value: _logarithm(value, Fraction(10)),
    "log2": lambda value: _logarithm(value, Fraction(2)),
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "radians": math.radians,
    "degrees": math.degrees,
    "factorial": _factorial,
    "gcd": _of_whole(math.gcd),
    "lcm": _of_whole(_least_common_multiple),
}
