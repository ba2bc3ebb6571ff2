"""Money as pages write it: exactly, and what is unknown never as nothing."""

from decimal import Decimal

import pytest

from conversations.core.usage import PriceTier, UnitPrices
from conversations.templatetags.figures import cost, plain_usd, prices_in_words, usd

CHEAP = UnitPrices(Decimal("0.15"), Decimal("0.6"))
FREE = UnitPrices(Decimal(0), Decimal(0))


@pytest.mark.parametrize(
    ("amount", "written"), [("0", "$0.00"), ("0.6", "$0.60"), ("0.075", "$0.075"), ("1234567", "$1,234,567.00")]
)
def test_an_amount_is_written_to_its_last_digit(amount, written):
    assert plain_usd(Decimal(amount)) == written


@pytest.mark.parametrize(
    ("prices", "words"),
    [
        (CHEAP, "$0.15 / $0.60 a million tokens"),
        (UnitPrices(*[Decimal(1)] * 2, tiers=(PriceTier(9, CHEAP),)), "from $1.00 / $1.00 a million tokens"),
        (FREE, "free"),
        (UnitPrices(Decimal(0), Decimal(0), tiers=(PriceTier(9, CHEAP),)), "from $0.00 / $0.00 a million tokens"),
        (UnitPrices(Decimal(0), None), "price unknown"),
        (UnitPrices(None, Decimal(0)), "price unknown"),
        (None, "price unknown"),
    ],
)
def test_a_price_to_choose_by_says_free_only_where_nothing_is_paid(prices, words):
    assert prices_in_words(prices) == words


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
