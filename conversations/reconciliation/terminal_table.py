"""A reconciliation as text for a terminal: differences, totals, what makes them uncertain, and our estimates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from conversations.reconciliation.billed_usage import BilledUsage
from conversations.reconciliation.comparison import ComparedFigure, Comparison, Measure
from conversations.reconciliation.reconcile import Reconciliation
from conversations.selectors.figures.estimate_errors import EstimateErrors

NAMES = {
    Measure.REQUESTS: "requests",
    Measure.INPUT: "input tokens",
    Measure.CACHED: "of them cached",
    Measure.OUTPUT: "output tokens",
    Measure.COST: "US dollars",
}
DIFFERENCES = ("DAY", "MODEL", "WHAT", "OURS", "PROVIDER", "DIFFERENCE")
TOTALS = ("TOTAL", "OURS", "PROVIDER", "DIFFERENCE")
ESTIMATES = ("MODEL", "COMPLETIONS", "ESTIMATED", "REPORTED", "MEAN ERROR", "95 IN 100 WITHIN", "WORST")
MOST_ROWS = 500
Row = Sequence[str]


def reconciliation_lines(result: Reconciliation) -> Iterator[str]:
    comparison = result.comparison
    yield f"{result.export.format.title}, {result.first} to {result.last} (UTC), {_days_and_models(comparison.places)}"
    yield ""
    if comparison.differing:
        rows = [_difference(each, comparison) for each in comparison.differing[:MOST_ROWS]]
        yield from _table(DIFFERENCES, rows, left=3)
        if len(comparison.differing) > MOST_ROWS:
            yield f"… and {len(comparison.differing) - MOST_ROWS:,} more"
        yield ""
    yield from _table(TOTALS, _totals(comparison), left=1)
    yield ""
    yield from _notes(result.ours)
    if comparison.is_shifted:
        yield "What differs by day evens out over the days: the file's may begin by another clock than UTC."
    if result.missing:
        words = "providers export embeddings by themselves; see --as, --without"
        yield f"Models that the file does not have in these days: {', '.join(result.missing)} ({words})"
    if result.unknown:
        yield f"Models that the ledger does not have in these days: {', '.join(result.unknown)} (see --as, --without)"
    if result.left_out:
        words = "the demo model is never billed; others by --without"
        yield f"Models of the file that are left out, with all their rows: {', '.join(result.left_out)} ({words})"


def _difference(each: ComparedFigure, comparison: Comparison) -> Row:
    figures = _figures(each.measure, each.ours, each.theirs)
    if each.place in comparison.only_ours:
        figures = (figures[0], "—", figures[2])
    elif each.place in comparison.only_theirs:
        figures = ("—", *figures[1:])
    share = "" if each.share is None else f" ({each.share:+.2%})"
    return (each.place.day.isoformat(), each.place.model, NAMES[each.measure], *figures[:2], figures[2] + share)


def _totals(comparison: Comparison) -> list[Row]:
    return [(NAMES[measure], *_figures(measure, *sides)) for measure, sides in comparison.totals.items()]


def _figures(measure: Measure, ours: Decimal, theirs: Decimal) -> tuple[str, str, str]:
    if measure == Measure.COST:
        return f"{ours:,.4f}", f"{theirs:,.4f}", f"{theirs - ours:+,.4f}"
    return f"{int(ours):,}", f"{int(theirs):,}", f"{int(theirs - ours):+,}"


def _notes(ours: BilledUsage) -> Iterator[str]:
    notes = {
        "still run, and are not in our figures": ours.running,
        "have no known price: what they cost is missing in our US dollars": ours.without_price,
        "were refused by the provider, which bills nothing for them: they are not counted": ours.unbilled,
        "ended without usage from the provider: their tokens are our own count": ours.counted_by_us,
        "ended without a report of what was cached: none of that is in our cached tokens": ours.cache_not_reported,
    }
    for words, count in notes.items():
        if count:
            yield f"Requests that {words}: {count:,}"


def estimate_lines(errors: Iterable[EstimateErrors]) -> Iterator[str]:
    """Yield how far our estimates of prompts are from what was reported, if anything was."""
    rows = [
        (
            each.language_model,
            f"{each.completions:,}",
            f"{each.estimated_tokens:,}",
            f"{each.reported_tokens:,}",
            f"{each.mean:+.2%}",
            f"{each.quantile_95:.2%}",
            f"{each.worst:+.2%}",
        )
        for each in errors
    ]
    if rows:
        yield ""
        yield "Input tokens as we estimate them and as providers report them"
        yield from _table(ESTIMATES, rows, left=1)
        yield ""


def verdict(comparison: Comparison) -> str:
    every = _days_and_models(comparison.places)
    is_one = comparison.places == 1
    if comparison.agrees:
        return f"The ledger and the file agree in {'' if is_one else 'all '}{every}."
    places = len({each.place for each in comparison.differing})
    return f"The ledger and the file differ in {'' if is_one else f'{places:,} of '}{every}."


def _days_and_models(places: int) -> str:
    return "1 day and model" if places == 1 else f"{places:,} days and models"


def _table(header: Row, rows: Sequence[Row], *, left: int) -> Iterator[str]:
    """Yield aligned lines; the first *left* columns are words, the others numbers."""
    whole = [header, *rows]
    widths = [max(len(row[index]) for row in whole) for index in range(len(header))]
    for row in whole:
        cells = [
            cell.ljust(width) if index < left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
