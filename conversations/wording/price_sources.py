"""Where a price comes from, in the reader's language: the ledger keeps it in one.

What can't be read again here, such as the name of a setting, stays as it is.
"""

from __future__ import annotations

import re

from django.utils.translation import gettext_lazy as _

TIER = re.compile(r"(?P<source>.+), (?P<reach>up to|above) (?P<tokens>[\d,]+) input tokens")
REACHES = {
    "up to": _("%(source)s, up to %(tokens)s input tokens"),
    "above": _("%(source)s, above %(tokens)s input tokens"),
}
SOURCES = {
    re.compile(r"the demo model is free"): _("the demo model is free"),
    re.compile(r"set in the admin, valid from (?P<day>[\d-]+)"): _("set in the admin, valid from %(day)s"),
    re.compile(r"(?P<list>genai-prices .+) on (?P<day>[\d-]+)"): _("%(list)s on %(day)s"),
}


def price_source_label(stored: str) -> str:
    """Return what people read of the source that `UnitPrices.source` names."""
    if tier := TIER.fullmatch(stored):
        words = tier.groupdict()
        return REACHES[words["reach"]] % {**words, "source": _of_all_tokens(words["source"])}
    return _of_all_tokens(stored)


def _of_all_tokens(stored: str) -> str:
    for pattern, sentence in SOURCES.items():
        if found := pattern.fullmatch(stored):
            return sentence % found.groupdict()
    return stored
