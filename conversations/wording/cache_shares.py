"""The part of the input that came from providers' caches, as a sentence. What is not reported is not none."""

from __future__ import annotations

from django.utils.translation import gettext

from conversations.selectors.figures.totals import Totals


def cache_share_sentence(totals: Totals) -> str:
    """Return which part of the input came from the cache, of the requests that report it; blank without any input."""
    if not totals.input_tokens:
        return ""
    if totals.cache_share is None:
        return gettext("The provider does not report what came from its cache.")
    amounts = {
        "share": f"{100 * totals.cache_share:,.1f} %",
        "reported": f"{totals.cache_reported_input_tokens:,}",
        "all": f"{totals.input_tokens:,}",
    }
    if totals.cache_reported_input_tokens == totals.input_tokens:
        return gettext("%(share)s of the input came from the cache.") % amounts
    return (
        gettext(
            "%(share)s of the input came from the cache, of the requests that report it "
            "(%(reported)s of %(all)s tokens)."
        )
        % amounts
    )
