"""Arithmetic: exact, as people write it, and refused before it grows."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.errors import ArgumentsInvalid
from conversations.tools.built_in.arithmetic import LONGEST_EXPRESSION
from conversations.tools.built_in.calculator import calculator
from tests.support.cpu_time import cpu_time_under

VALUES = {
    "17 × 23": "391",
    "17 * 23": "391",
    "0.1 + 0.2": "0.3",
    "(2 + 3) * 4 ** 2": "80",
    "2 ^ 10": "1024",
    "-2 ** 2": "-4",
    "2 ** -3": "0.125",
    "−5 ÷ 2": "-2.5",
    "7 // 2": "3",
    "-7 // 2": "-4",
    "10 % 3": "1",
    "1 / 3": "0.333333333333333 (rounded; exactly 1/3)",
    "1e4000 / 3": "3.33333333333333E+3999 (rounded)",
    "1 / 3 * 3": "1",
    "0.07 * 100": "7",
    "1234567890123456789 * 9876543210987654321": "12193263113702179522374638011112635269",
    "sqrt(16 / 9)": "1.33333333333333 (rounded; exactly 4/3)",
    "√(2)": "1.4142135623731",
    "16 ** 0.5": "4",
    "log(8, 2)": "3",
    "log10(1000)": "3",
    "ln(e)": "1",
    "2 * π": "6.28318530717959",
    "round(2.5)": "3",
    "round(-2.345, 2)": "-2.35",
    "round(1234, -2)": "1200",
    "floor(-0.5) + ceil(0.5)": "0",
    "max(1, 2.5, 2)": "2.5",
    "factorial(20)": "2432902008176640000",
    "gcd(12, 18) + lcm(4, 6)": "18",
    "sin(radians(30))": "0.5",
    " 1_000 + 1 ": "1001",
}


@pytest.mark.parametrize(("expression", "value"), VALUES.items(), ids=VALUES)
def test_an_expression_has_its_exact_value(expression, value):
    assert calculator(expression) == value


REFUSED = {
    "": "can't be read",
    "(" * 900: "can't be read",
    "1 +": "can't be read",
    "5 km": "can't be read",
    "1, 2": "is not known here",
    "x + 1": "'x' is not known here",
    "__import__('os')": "is not known here",
    "().__class__": "is not known here",
    "[1, 2]": "is not known here",
    "round(ndigits=2)": "is not known here",
    "'a' * 3": "is no number",
    "True + 1": "is no number",
    "1j": "is no number",
    "1 / 0": "divides by zero",
    "0 ** -1": "divides by zero",
    "5 % 0": "divides by zero",
    "sqrt(-1)": "has no value",
    "(-8) ** 0.5": "has no value",
    "(-8) ** 0.3": "has no real value",
    "min()": "has no value",
    "gcd(1.5, 2)": "A whole number is needed",
    "9 ** 9 ** 9": "too large",
    "10 ** 100000": "too large",
    "factorial(100000)": "too large",
    "1e999999999": "too large",
    "1e-999999999": "too large",
    "exp(1000)": "too large",
    "round(1, 10 ** 9)": "too large",
    "+".join(["1"] * LONGEST_EXPRESSION): f"longer than {LONGEST_EXPRESSION} characters",
}


@pytest.mark.parametrize(("expression", "reason"), REFUSED.items(), ids=lambda value: value[:20])
def test_what_has_no_value_is_refused_at_once_with_the_reason(expression, reason):
    with cpu_time_under(2), pytest.raises(ArgumentsInvalid) as raised:
        calculator(expression)
    assert reason in raised.value.detail


def test_many_powers_one_after_the_other_stay_small():
    with pytest.raises(ArgumentsInvalid, match="do not match the tool’s schema"):
        calculator("*".join(["9**4000"] * 100))


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9), st.integers(1, 10**9))
def test_fractions_are_added_as_they_are(a, b, c):
    assert calculator(f"({a} / {c} + {b} / {c}) * {c}") == str(a + b)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=6))
def test_a_decimal_number_is_itself(number):
    assert Fraction(calculator(f"{number:f}")) == Fraction(number)


def test_a_multiple_of_many_large_numbers_holds_no_one_up():
    numbers = ",".join(f"1e4000-{n}" for n in range(1, 90))
    with cpu_time_under(1), pytest.raises(ArgumentsInvalid, match="do not match the tool’s schema"):
        calculator(f"lcm({numbers})")
