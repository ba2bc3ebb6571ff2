"""Amounts of money as programs read them: plain decimal numbers to the last digit, never in powers of ten.

Decimal("0E-10")  ─▶ "0"        Decimal("0.0001200000")  ─▶ "0.00012"        Decimal("12")  ─▶ "12"
"""

from __future__ import annotations

from decimal import Decimal


def write_amount(amount: Decimal | None) -> str | None:
    """Return *amount* without zeros that say nothing; None for an unknown one."""
    if amount is None:
        return None
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
