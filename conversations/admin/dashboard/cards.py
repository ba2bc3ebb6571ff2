"""The figures at the top of the page, each beside the figure of the days before, and the cost of context."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext, ngettext

from conversations.selectors.figures.totals import Totals
from conversations.templatetags.figures import cents, count, percent, share, usd

SMALLEST_SHOWN = Decimal("0.05")  # what is written as 0.1 per cent


@dataclass(frozen=True, slots=True)
class Card:
    """A figure as it is written, by how much it has *changed*, the *previous* figure, and a *note* about it."""

    label: str
    value: str
    changed: str = ""
    previous: str = ""
    note: str = ""


def cards(total: Totals, previous: Totals, *, running: int) -> list[Card]:
    return [
        _cost(total, previous),
        _tokens(total, previous),
        _counted(gettext("Replies"), total.replies, previous.replies, note=_requests(total)),
        _counted(gettext("Active users"), total.users, previous.users),
        _part(gettext("Input from the cache"), total.cache_share, previous.cache_share, note=_cached(total)),
        _part(
            gettext("Estimation error"),
            total.estimate_error_share,
            previous.estimate_error_share,
            note="" if total.estimate_error_share is None else gettext("of input tokens reported by providers"),
        ),
        _counted(gettext("Failures"), total.failures, previous.failures, note=_stopped(total)),
        Card(gettext("Running now"), count(running), note=gettext("counted when finished")),
    ]


def _cost(total: Totals, previous: Totals) -> Card:
    note = gettext("all prices known")
    if total.unknown_costs:
        note = ngettext(
            "%(count)s request at an unknown price", "%(count)s requests at an unknown price", total.unknown_costs
        ) % {"count": count(total.unknown_costs)}
    changed = growth(total.cost_usd, previous.cost_usd)
    known = not total.unknown_costs or total.cost_usd
    return Card(gettext("Cost"), usd(total.cost_usd if known else None), changed, cents(previous.cost_usd), note)


def _tokens(total: Totals, previous: Totals) -> Card:
    note = gettext("%(input)s input, %(output)s output") % {
        "input": count(total.input_tokens),
        "output": count(total.output_tokens),
    }
    return _counted(gettext("Tokens"), total.tokens, previous.tokens, note=note)


def _requests(total: Totals) -> str:
    note = ngettext("%(count)s request to a provider", "%(count)s requests to providers", total.completions)
    return note % {"count": count(total.completions)}


def _cached(total: Totals) -> str:
    if total.cache_share is None:
        return gettext("not reported by the provider") if total.input_tokens else ""
    note = gettext("%(cached)s of %(reported)s input tokens") % {
        "cached": count(total.cached_input_tokens),
        "reported": count(total.cache_reported_input_tokens),
    }
    if not (others := total.input_tokens - total.cache_reported_input_tokens):
        return note
    return gettext("%(note)s; not reported of %(others)s others") % {"note": note, "others": count(others)}


def _stopped(total: Totals) -> str:
    note = ngettext("%(count)s stopped by its user", "%(count)s stopped by their users", total.stopped)
    return note % {"count": count(total.stopped)}


def _counted(label: str, now: int, previous: int, *, note: str = "") -> Card:
    return Card(label, count(now), growth(now, previous), count(previous), note)


def _part(label: str, now: float | None, previous: float | None, *, note: str) -> Card:
    return Card(label, share(now), _points(now, previous), share(previous), note)


def growth(now: Decimal | int, previous: Decimal | int) -> str:
    """Return by how many per cent *now* is above *previous*, as text; blank where there was nothing to begin with."""
    if previous <= 0:
        return ""
    per_cent = Decimal(now - previous) * 100 / previous
    return percent(per_cent) if abs(per_cent) >= SMALLEST_SHOWN else gettext("unchanged")


def _points(now: float | None, previous: float | None) -> str:
    """Return by how many points one share is above the other, as text."""
    if now is None or previous is None:
        return ""
    points = Decimal(100 * (now - previous))
    if abs(points) < SMALLEST_SHOWN:
        return gettext("unchanged")
    return gettext("%(difference)s points") % {"difference": percent(points).removesuffix(" %")}


@dataclass(frozen=True, slots=True)
class CostOfContext:
    """The cost of replies, against the same questions without earlier messages: both as bars, in per mille."""

    total: Totals
    previous: Totals

    @property
    def is_free(self) -> bool:
        """Whether all prices are known, and nothing was to be paid."""
        return not self.total.unknown_costs and not self.total.cost_usd

    @property
    def sent_width(self) -> int:
        return self._width(self.total.cost_with_history_usd)

    @property
    def alone_width(self) -> int:
        return self._width(self.total.cost_without_history_usd)

    def _width(self, cost_usd: Decimal) -> int:
        largest = max(self.total.cost_with_history_usd, self.total.cost_without_history_usd)
        return int(1000 * cost_usd / largest) if largest else 0

    @property
    def changed(self) -> str:
        return growth(self.total.context_cost_usd, self.previous.context_cost_usd)
