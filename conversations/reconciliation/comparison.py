"""Our ledger beside a provider's figures, by day (UTC) and language model.

    difference = theirs − ours
    a row agrees if |difference| ≤ tolerance · max(ours, theirs), and money also if that is less than half a cent

Only what the provider's file tells of is compared: some have tokens and no money, others money and no tokens. Providers
write one model in several ways, so names are compared by `plain_name`, and what bears the same one is added up.
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
    """What is compared. The last one is money in US dollars, all others are counts."""

    REQUESTS = "requests"
    INPUT = "input_tokens"
    CACHED = "cached_input_tokens"
    OUTPUT = "output_tokens"
    COST = "cost_usd"


Amounts = Mapping[Measure, Decimal]


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A day of UTC and a language model, by its plain name."""

    day: dt.date
    model: str


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure of both sides."""

    place: Place
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
    """*differing* is what does not agree, by day and model; *totals* are of everything that was compared.

    *only_ours* and *only_theirs* are the places that the other side has nothing of.
    """

    places: int
    differing: tuple[Compared, ...]
    totals: Mapping[Measure, tuple[Decimal, Decimal]]
    only_ours: tuple[Place, ...]
    only_theirs: tuple[Place, ...]

    @property
    def agrees(self) -> bool:
        return not self.differing

    @property
    def is_shifted(self) -> bool:
        """Whether what differs by day nearly evens out over all days: as where theirs begin by another clock."""
        return bool(self.differing) and all(self._evens_out(measure) for measure in self.totals)

    def _evens_out(self, measure: Measure) -> bool:
        by_day, by_model = Decimal(0), defaultdict[str, Decimal](Decimal)
        for each in self.differing:
            if each.measure == measure:
                by_day += abs(each.difference)
                by_model[each.place.model] += each.difference
        return sum(map(abs, by_model.values())) <= LEFT_OF_A_SHIFT * by_day


def plain_name(model: str, same_as: Mapping[str, str] | None = None) -> str:
    """Return the name without what spellings differ by: vendor, date of the snapshot, letter case, parting of words.

    *same_as* holds exceptions, plain name → plain name.
    """
    name = SPELLING.sub("-", model.strip().rpartition("/")[2].lower())
    plain = SNAPSHOT.sub("", name)
    return (same_as or {}).get(plain, plain)


def add_up(amounts: Iterable[Amounts]) -> dict[Measure, Decimal]:
    """Return the sums; what is in none of them is 0."""
    sums = dict.fromkeys(Measure, Decimal(0))
    for each in amounts:
        for measure, amount in each.items():
            sums[measure] += amount
    return sums


def compare(
    ours: Mapping[Place, Amounts], theirs: Mapping[Place, Amounts], *, measures: Iterable[Measure], tolerance: Decimal
) -> Comparison:
    """Compare the *measures* of every place that either side has; the *tolerance* is a share, such as 0.01."""
    measures = tuple(measures)
    places = sorted(_with_amounts(ours, measures) | _with_amounts(theirs, measures))
    compared = [
        Compared(place, measure, _amount(ours, place, measure), _amount(theirs, place, measure))
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


def _with_amounts(side: Mapping[Place, Amounts], measures: Iterable[Measure]) -> set[Place]:
    """Return the places of that side where there is anything to compare."""
    return {place for place, amounts in side.items() if any(amounts.get(measure) for measure in measures)}


def _amount(side: Mapping[Place, Amounts], place: Place, measure: Measure) -> Decimal:
    return side.get(place, {}).get(measure, Decimal(0))
