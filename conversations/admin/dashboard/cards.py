"""The figures at the top of the page, each beside what it was before."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext, ngettext

from conversations.selectors.figures.totals import Totals
from conversations.templatetags.figures import cents, count, percent, share, usd

SMALLEST_SHOWN = Decimal("0.05")  # what is written as 0.1 per cent


@dataclass(frozen=True, slots=True)
class Card:
    """A figure as it is written, by how much it has *changed*, what it was *before*, and what is to be said of it."""

    label: str
    value: str
    changed: str = ""
    before: str = ""
    note: str = ""


def cards(total: Totals, before: Totals, *, running: int) -> list[Card]:
    return [
        _cost(total, before),
        _tokens(total, before),
        _counted(gettext("Replies"), total.replies, before.replies, note=_requests(total)),
        _counted(gettext("Active users"), total.users, before.users),
        _part(gettext("Cached input"), total.cache_share, before.cache_share, note=_cached(total)),
        _part(
            gettext("Error of our estimates"),
            total.estimate_error_share,
            before.estimate_error_share,
            note=gettext("of the input tokens that providers reported"),
        ),
        _counted(gettext("Failures"), total.failures, before.failures, note=_stopped(total)),
        Card(gettext("Running now"), count(running), note=gettext("in no figure before they end")),
    ]


def _cost(total: Totals, before: Totals) -> Card:
    note = gettext("every price is known")
    if total.unknown_costs:
        note = ngettext(
            "%(count)s completion at an unknown price", "%(count)s completions at an unknown price", total.unknown_costs
        ) % {"count": count(total.unknown_costs)}
    changed = growth(total.cost_usd, before.cost_usd)
    known = not total.unknown_costs or total.cost_usd
    return Card(gettext("Cost"), usd(total.cost_usd if known else None), changed, cents(before.cost_usd), note)


def _tokens(total: Totals, before: Totals) -> Card:
    note = gettext("%(input)s input, %(output)s output") % {
        "input": count(total.input_tokens),
        "output": count(total.output_tokens),
    }
    return _counted(gettext("Tokens"), total.tokens, before.tokens, note=note)


def _requests(total: Totals) -> str:
    note = ngettext("%(count)s request to a provider", "%(count)s requests to providers", total.completions)
    return note % {"count": count(total.completions)}


def _cached(total: Totals) -> str:
    note = ngettext("%(count)s token", "%(count)s tokens", total.cached_input_tokens)
    return note % {"count": count(total.cached_input_tokens)}


def _stopped(total: Totals) -> str:
    note = ngettext("%(count)s stopped by its user", "%(count)s stopped by their users", total.stopped)
    return note % {"count": count(total.stopped)}


def _counted(label: str, now: int, before: int, *, note: str = "") -> Card:
    return Card(label, count(now), growth(now, before), count(before), note)


def _part(label: str, now: float | None, before: float | None, *, note: str) -> Card:
    return Card(label, share(now), _points(now, before), share(before), note if now is not None else "")


def growth(now: Decimal | int, before: Decimal | int) -> str:
    """Say by how many per cent *now* is above *before*; nothing where there was nothing to begin with."""
    if before <= 0:
        return ""
    per_cent = Decimal(now - before) * 100 / before
    return percent(per_cent) if abs(per_cent) >= SMALLEST_SHOWN else gettext("as before")


def _points(now: float | None, before: float | None) -> str:
    """Say by how much one share is above the other."""
    if now is None or before is None:
        return ""
    points = Decimal(100 * (now - before))
    if abs(points) < SMALLEST_SHOWN:
        return gettext("as before")
    return gettext("%(difference)s points") % {"difference": percent(points).removesuffix(" %")}
