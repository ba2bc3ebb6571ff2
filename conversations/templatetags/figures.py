"""Template filters that write figures: counts, costs, shares. Exact, and an unknown one as unknown.

Thousands are parted by commas in every language of the site. Django's own format for Chinese parts them by fours.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from conversations.selectors.figures.totals import Totals
from conversations.wording.cache_shares import cache_share_sentence
from conversations.wording.money_amounts import rounded_usd, split_usd
from conversations.wording.price_sources import price_source_label

register = template.Library()
NOTHING = "–"


@register.filter
def count(value: int | None) -> str:
    """Return *value* with thousands apart, or a dash."""
    return NOTHING if value is None else f"{value:,}"


@register.filter
def count_or_estimate(value: int | None, is_estimated: bool) -> str:
    """Return a number of tokens as reported, or marked as our own count."""
    return f"≈ {count(value)}" if is_estimated else count(value)


@register.filter
def reported(value: int | None) -> str:
    """Return a number of tokens that a provider reports, which may be 0, or that it reports none."""
    return gettext("not reported") if value is None else count(value)


@register.filter
def any_reported(value: int | None) -> str:
    """Return a number of tokens that is stored as 0 also where the provider says nothing of them."""
    return count(value) if value else gettext("none reported")


def others(number: int) -> str:
    """Return what the row is called that stands for all that are not shown."""
    return ngettext("%(count)s other", "%(count)s others", number) % {"count": count(number)}


@register.filter
def usd(value: Decimal | None) -> SafeString:
    """Return an amount to its last digit, those behind the cents in small print."""
    if value is None:
        return format_html('<span class="unknown">{}</span>', gettext("unknown"))
    return format_html('<span class="usd">{}<small>{}</small></span>', *split_usd(value))


@register.filter
def cents(value: Decimal) -> str:
    """Return an amount to the cent, for where it stands beside what it is reckoned from."""
    return rounded_usd(value, ROUND_HALF_EVEN)


@register.filter
def usd_at_most(value: Decimal) -> str:
    """Return an amount in cents that is no less: for what may become of it."""
    return rounded_usd(value, ROUND_CEILING)


@register.filter
def cost(value: Decimal | None, unknown: int | None) -> SafeString | str:
    """Return the sum of the known costs, and how many more are unknown; a dash where there are neither."""
    if not unknown:
        return NOTHING if value is None else usd(value)
    if not value:
        return format_html('<span class="unknown">{}</span>', gettext("%(count)s unknown") % {"count": count(unknown)})
    more = gettext("+ %(count)s unknown") % {"count": count(unknown)}
    return format_html('{} <span class="unknown">{}</span>', usd(value), more)


@register.filter
def seconds(value: float | None) -> str:
    return NOTHING if value is None else gettext("%(seconds)s s") % {"seconds": f"{value:,.2f}"}


@register.filter
def whole_seconds(value: float | None) -> str:
    """Return how long something lasted, as people say it: "6 s", "1 min 5 s". What took any time took a second."""
    if value is None:
        return NOTHING
    minutes, rest = divmod(max(1, round(value)), 60)
    if not minutes:
        return gettext("%(seconds)s s") % {"seconds": rest}
    return gettext("%(minutes)s min %(seconds)s s") % {"minutes": minutes, "seconds": rest}


@register.filter
def price(value: Decimal | None) -> SafeString:
    """Return a unit price, which is US dollars for a million tokens."""
    return usd(value) if value is None else format_html(gettext("{} / M"), usd(value))


@register.filter
def price_source(stored: str) -> str:
    """Return where a price comes from, in the reader's language."""
    return price_source_label(stored)


@register.filter
def ratio(value: Decimal) -> str:
    """Return a factor without the zeros at its end."""
    return f"× {value.normalize():f}"


@register.filter
def percent(value: Decimal) -> str:
    """Return a difference with its sign and one decimal."""
    return f"{value:+,.1f} %".replace("-", "−")


@register.filter
def share(value: float | None) -> str:
    """Return a part of one as per cent, or a dash where there is nothing to be a part of."""
    return NOTHING if value is None else f"{100 * value:,.1f} %"


@register.filter
def cache_sentence(totals: Totals) -> str:
    """Return which part of the input came from the cache."""
    return cache_share_sentence(totals)


@register.filter
def factor(value: float | None) -> str:
    """Return how many times as much, to two decimals, or a dash where there is nothing to compare with."""
    return NOTHING if value is None else f"×\N{NO-BREAK SPACE}{value:,.2f}"
