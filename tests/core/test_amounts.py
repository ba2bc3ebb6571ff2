"""Amounts as programs read them: plain numbers, exact."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core.money.amounts import write_amount


@pytest.mark.parametrize(
    ("amount", "written"),
    [
        *((Decimal("0E-10"), "0"), (Decimal("0.0001200000"), "0.00012"), (Decimal("1E-10"), "0.0000000001")),
        *((Decimal(120), "120"), (Decimal("1E+2"), "100"), (Decimal("12.50"), "12.5"), (None, None)),
    ],
)
def test_an_amount_is_written_as_a_plain_number(amount, written):
    assert write_amount(amount) == written


@given(st.decimals(min_value=0, max_value=10**12, places=10))
def test_no_digit_is_lost(amount):
    written = write_amount(amount)
    assert Decimal(written) == amount
    assert "E" not in written
