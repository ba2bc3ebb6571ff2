"""Money as pages write it: exactly, and what is unknown never as nothing."""

from decimal import Decimal

import pytest

from conversations.templatetags.figures import cost, usd


@pytest.mark.parametrize(
    ("known", "unknown", "words"),
    [(None, 0, "–"), (None, 2, "2 unknown"), (Decimal(0), 2, "2 unknown"), (Decimal("0.12"), 3, "+ 3 unknown")],
)
def test_a_sum_says_what_it_does_not_know(known, unknown, words):
    written = cost(known, unknown)
    assert words in written
    assert "$0.00" not in written


def test_an_unknown_amount_is_not_0():
    assert "unknown" in usd(None)
    assert "0" not in usd(None)


def test_the_digits_behind_the_cents_are_in_small_print():
    assert usd(Decimal("1234.5678")) == '<span class="usd">$1,234.56<small>78</small></span>'
