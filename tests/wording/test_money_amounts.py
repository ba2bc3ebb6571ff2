"""Money as text: to its last digit, or rounded so that it promises nothing."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

import pytest

from conversations.core.money.unit_prices import PriceTier, UnitPrices
from conversations.wording.money_amounts import exact_usd, price_label, rounded_usd

CHEAP = UnitPrices(Decimal("0.15"), Decimal("0.6"))
FREE = UnitPrices(Decimal(0), Decimal(0))


@pytest.mark.parametrize(
    ("amount", "written"), [("0", "$0.00"), ("0.6", "$0.60"), ("0.075", "$0.075"), ("1234567", "$1,234,567.00")]
)
def test_an_amount_is_written_to_its_last_digit(amount, written):
    assert exact_usd(Decimal(amount)) == written


@pytest.mark.parametrize(
    ("prices", "words"),
    [
        (CHEAP, "$0.15 in / $0.60 out per million tokens"),
        (UnitPrices(*[Decimal(1)] * 2, tiers=(PriceTier(9, CHEAP),)), "from $1.00 in / $1.00 out per million tokens"),
        (FREE, "free"),
        (
            UnitPrices(Decimal(0), Decimal(0), tiers=(PriceTier(9, CHEAP),)),
            "from $0.00 in / $0.00 out per million tokens",
        ),
        (UnitPrices(Decimal(0), None), "price unknown"),
        (UnitPrices(None, Decimal(0)), "price unknown"),
        (None, "price unknown"),
    ],
)
def test_a_price_to_choose_by_says_free_only_where_nothing_is_paid(prices, words):
    assert price_label(prices) == words


@pytest.mark.parametrize(
    ("amount", "down", "up"),
    [
        ("0.999", "$0.99", "$1.00"),
        ("0.0042", "$0.0042", "$0.0042"),
        ("0.00001", "$0.00", "$0.0001"),
        ("0", "$0.00", "$0.00"),
        ("1234.5", "$1,234.50", "$1,234.50"),
    ],
)
def test_an_amount_is_rounded_to_cents_or_where_it_is_less_to_what_can_be_seen(amount, down, up):
    assert rounded_usd(Decimal(amount), ROUND_FLOOR) == down
    assert rounded_usd(Decimal(amount), ROUND_CEILING) == up
