"""What usage has taught about counting a language model's tokens, at hand for every window.

The rows are read at most once in `KNOWN_FOR_SECONDS`: every estimate of a draft asks for them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from conversations.models import Calibration

KNOWN_FOR_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Calibrated:
    """*ratio* divides budgets; *limit_tokens* is the context window that the provider named, if it is the smaller."""

    ratio: Decimal = Decimal(1)
    limit_tokens: int | None = None


class _Known:
    def __init__(self) -> None:
        self._by_name: Mapping[str, Calibrated] = {}
        self._read_at = float("-inf")

    def of(self, language_model: str) -> Calibrated:
        if time.monotonic() - self._read_at > KNOWN_FOR_SECONDS:
            rows = Calibration.objects.values_list("language_model", "ratio", "limit_tokens")
            self._by_name = {name: Calibrated(ratio, limit_tokens) for name, ratio, limit_tokens in rows}
            self._read_at = time.monotonic()
        return self._by_name.get(language_model, Calibrated())

    def forget(self) -> None:
        self._read_at = float("-inf")


known = _Known()


def calibration_of(language_model: str) -> Calibrated:
    """Return what is known of the language model with that name."""
    return known.of(language_model)
