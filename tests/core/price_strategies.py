"""Prices and usages that hypothesis makes up."""

from __future__ import annotations

from hypothesis import strategies as st

from conversations.core.money.unit_prices import LARGEST_PRICE_USD, PRICE_DECIMALS, UnitPrices
from conversations.core.money.usage import Usage

TOKENS = st.integers(0, 2**31 - 1)
PRICE = st.decimals(0, LARGEST_PRICE_USD, places=PRICE_DECIMALS)
PLAIN = st.builds(UnitPrices, PRICE, PRICE, st.none() | PRICE, st.none() | PRICE)


@st.composite
def usages(draw, most_input=2_000_000):
    input_tokens = draw(st.integers(0, most_input))
    cached = draw(st.integers(0, input_tokens))
    written = draw(st.integers(0, input_tokens - cached))
    return Usage(input_tokens, draw(TOKENS), cached, cache_write_tokens=written)
