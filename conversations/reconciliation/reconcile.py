"""Reconcile a provider's file with the ledger, for the days in the file."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import BinaryIO

from conversations.reconciliation.comparison import Comparison, DayAndModel, compare
from conversations.reconciliation.usage_exports.errors import UnreadableExport
from conversations.reconciliation.usage_exports.read_export import UsageExport, read_export

from .billed_usage import BilledUsage, billed_usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonTerms:
    """How to compare. Without *first* and *last* the days are the file's; the *tolerance* is a share.

    Names of models are plain ones: *same_as* is theirs → ours, and models *without* are left out on both sides.
    """

    format_name: str | None = None
    first: dt.date | None = None
    last: dt.date | None = None
    tolerance: Decimal = Decimal(0)
    same_as: Mapping[str, str] | None = None
    without: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """*first* and *last* are the days that were compared.

    *unknown* are the file's models that the ledger has none of, *missing* the ledger's that the file has none of,
    *left_out* the file's that were not compared because the terms say so.
    """

    export: UsageExport
    first: dt.date
    last: dt.date
    ours: BilledUsage
    comparison: Comparison
    unknown: tuple[str, ...]
    missing: tuple[str, ...]
    left_out: tuple[str, ...]


def reconcile(file: BinaryIO, terms: ComparisonTerms) -> Reconciliation:
    """Compare *file* with the ledger. Raises `UnreadableExport`."""
    export = read_export(file, format_name=terms.format_name, same_as=terms.same_as)
    days = {place.day for place in export.amounts}
    first, last = terms.first or min(days), terms.last or max(days)
    if first > last:
        raise UnreadableExport(f"The days end, {last}, before they begin, {first}.")
    in_time = {place: amounts for place, amounts in export.amounts.items() if first <= place.day <= last}
    theirs = {place: amounts for place, amounts in in_time.items() if place.model not in terms.without}
    left_out = _models(in_time) - _models(theirs)
    ours = billed_usage(first, last, same_as=terms.same_as, without=terms.without)
    comparison = compare(ours.amounts, theirs, measures=export.measures, tolerance=terms.tolerance)
    if not comparison.places:
        but = f" but what is left out: {', '.join(sorted(left_out))} (see --without)" if left_out else ""
        raise UnreadableExport(f"From {first} to {last} there is nothing to compare{but}.")
    unknown = _models(theirs) - _models(ours.amounts)
    missing = _models(comparison.only_ours) - _models(theirs)
    named = (tuple(sorted(models)) for models in (unknown, missing, left_out))
    return Reconciliation(export, first, last, ours, comparison, *named)


def _models(places: Iterable[DayAndModel]) -> set[str]:
    return {place.model for place in places}
