"""Compare the ledger with a provider's figures, by day (UTC) and language model.

    difference = theirs − ours
    a row agrees if |difference| ≤ tolerance · max(ours, theirs), and money also if that is less than half a cent

Only measures of the provider's file are compared: some have tokens and no money, others money and no tokens. Providers
write one model in several ways, so names are compared by `plain_name`, and figures with the same one are added up.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

ROUNDING_USD = Decimal("0.005")
LEFT_OF_A_SHIFT = Decimal("0.2")  # of what differs by day; the first and the last day have no other beside them
# A snapshot's date, as in gpt-4o-mini-2024-07-18, claude-sonnet-4-20250514 and claude-sonnet-4@20250514.
SNAPSHOT = re.compile(r"[-@](20\d\d-\d\d-\d\d|20\d{6}|latest)$")
SPELLING = re.compile(r"[\s._]+")


class Measure(StrEnum):
    """The measures that are compared. The last one is money in US dollars, all others are counts."""

    REQUESTS = "requests"
    INPUT = "input_tokens"
    CACHED = "cached_input_tokens"
    OUTPUT = "output_tokens"
    COST = "cost_usd"


Amounts = Mapping[Measure, Decimal]


@dataclass(frozen=True, slots=True, order=True)
class DayAndModel:
    """A day of UTC and a language model, by its plain name."""

    day: dt.date
    model: str


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """One figure of both sides."""

    place: DayAndModel
    measure: Measure
    ours: Decimal
    theirs: Decimal

    @property
    def difference(self) -> Decimal:
        return self.theirs - self.ours

    @property
    def share(self) -> Decimal | None:
        """The difference as a part of ours; None where we have nothing."""
        return self.difference / self.ours if self.ours else None

    def agrees(self, tolerance: Decimal) -> bool:
        if self.measure == Measure.COST and abs(self.difference) < ROUNDING_USD:
            return True
        return abs(self.difference) <= tolerance * max(self.ours, self.theirs)


@dataclass(frozen=True, slots=True)
class Comparison:
    """*differing* are the figures that do not agree, by day and model; *totals* are of everything that was compared.

    *only_ours* and *only_theirs* are the places that the other side has nothing of.
    """

    places: int
    differing: tuple[ComparedFigure, ...]
    totals: Mapping[Measure, tuple[Decimal, Decimal]]
    only_ours: tuple[DayAndModel, ...]
    only_theirs: tuple[DayAndModel, ...]

    @property
    def agrees(self) -> bool:
        return not self.differing

    @property
    def is_shifted(self) -> bool:
        """Whether differences by day nearly even out over all days, as they do if theirs begin at another hour."""
        return bool(self.differing) and all(self._evens_out(measure) for measure in self.totals)

    def _evens_out(self, measure: Measure) -> bool:
        by_day, by_model = Decimal(0), defaultdict[str, Decimal](Decimal)
        for each in self.differing:
            if each.measure == measure:
                by_day += abs(each.difference)
                by_model[each.place.model] += each.difference
        return sum(map(abs, by_model.values())) <= LEFT_OF_A_SHIFT * by_day


def plain_name(model: str, same_as: Mapping[str, str] | None = None) -> str:
    """Return the name normalized: without vendor and date of the snapshot, in lower case, words joined by hyphens.

    *same_as* holds exceptions, plain name → plain name.
    """
    name = SPELLING.sub("-", model.strip().rpartition("/")[2].lower())
    plain = SNAPSHOT.sub("", name)
    return (same_as or {}).get(plain, plain)


def add_up(amounts: Iterable[Amounts]) -> dict[Measure, Decimal]:
    """Return the sums; a measure that is in none of them is 0."""
    sums = dict.fromkeys(Measure, Decimal(0))
    for each in amounts:
        for measure, amount in each.items():
            sums[measure] += amount
    return sums


def compare(
    ours: Mapping[DayAndModel, Amounts],
    theirs: Mapping[DayAndModel, Amounts],
    *,
    measures: Iterable[Measure],
    tolerance: Decimal,
) -> Comparison:
    """Compare the *measures* of every place that either side has; the *tolerance* is a share, such as 0.01."""
    measures = tuple(measures)
    places = sorted(_with_amounts(ours, measures) | _with_amounts(theirs, measures))
    compared = [
        ComparedFigure(place, measure, _amount(ours, place, measure), _amount(theirs, place, measure))
        for place in places
        for measure in measures
    ]
    all_ours, all_theirs = add_up(ours.values()), add_up(theirs.values())
    return Comparison(
        places=len(places),
        differing=tuple(each for each in compared if not each.agrees(tolerance)),
        totals={measure: (all_ours[measure], all_theirs[measure]) for measure in measures},
        only_ours=tuple(place for place in places if place not in theirs),
        only_theirs=tuple(place for place in places if place not in ours),
    )


def _with_amounts(side: Mapping[DayAndModel, Amounts], measures: Iterable[Measure]) -> set[DayAndModel]:
    """Return the places of that side where there is anything to compare."""
    return {place for place, amounts in side.items() if any(amounts.get(measure) for measure in measures)}


def _amount(side: Mapping[DayAndModel, Amounts], place: DayAndModel, measure: Measure) -> Decimal:
    return side.get(place, {}).get(measure, Decimal(0))
