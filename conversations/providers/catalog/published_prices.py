"""Published prices and context windows, from the data that ships with genai_prices. Its only importer.

Prices are US dollars for a million tokens, to the 8th decimal. The data is the package's own snapshot: nothing is ever
fetched, and a new version of the package is a new price list. So the version dates it; the snapshot's own timestamp is
only the moment at which a process loaded it. A price is looked up only at a provider that the data knows by its
address, so that a model served at home is never billed as its hosted namesake.

Some models cost more once a prompt passes a threshold: then every token of the request does (`PriceTier`). Some cost
more at certain hours. Both are followed, and writing to the provider's cache too, where it happens
unasked. Left out are the more expensive options of a request (a cache kept for an hour, a service tier in a scenario's
sampling parameters), and all that is not text: audio, images, documents, searches. A model that bills an ordinary text
request in further units, such as a fee for each or reasoning at a price of its own, has no price here: any cost that we
named would be wrong. All can be set in the settings or the admin.

The package takes 13 MB, and 8 more where nothing else needs pydantic. So it is loaded for a provider that it may know:
one with a name of the public internet.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from importlib.metadata import version
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from conversations.core.money.unit_prices import PRICE_DECIMALS, PRICE_NAMES, PriceTier, UnitPrices

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice, Provider, TieredPrices

    ListedPrice = Decimal | TieredPrices | None

COVERED = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok")  # in the order of PRICE_NAMES
MAKERS = ("https://api.openai.com/v1", "https://api.anthropic.com")  # whose models the exports that are imported name
# Parts of the names of prices that a request for text has no use for.
NOT_FOR_TEXT = (
    "audio",
    "cache_write_1h",
    "cache_write_5m",
    "code_execution",
    "document",
    "image",
    "pixels",
    "searches",
    "video",
)


def unit_prices(language_model: str, *, base_url: str, at: dt.datetime) -> UnitPrices | None:
    """Return the prices of the provider at *base_url* at that time, or None where they are not known."""
    if (found := _find(language_model, base_url)) is None:
        return None
    provider, model = found
    listed = model.get_prices(at)
    prices = [getattr(listed, name) for name in COVERED]
    if prices[:2] == [None, None] or not _is_covered(listed):
        return None
    source = f"genai-prices {_version()}: {provider.id}/{model.id} on {at.astimezone(dt.UTC):%Y-%m-%d}"
    return UnitPrices(**_at(prices, input_tokens=0), source=source, tiers=_tiers(prices))


def known_context_window(language_model: str, *, base_url: str) -> int | None:
    """Return how many tokens the model takes at the provider at *base_url*, or None where it is not known."""
    found = _find(language_model, base_url)
    return found[1].context_window if found else None


def published_context_window(language_model: str) -> int | None:
    """Return how many tokens the model takes at the one who made it, or None where it is not known."""
    known = (known_context_window(language_model, base_url=base_url) for base_url in MAKERS)
    return next((each for each in known if each is not None), None)


@cache  # it is read from a file, which took 25 times as long as all else of a price
def _version() -> str:
    return version("genai-prices")


def _find(language_model: str, base_url: str) -> tuple[Provider, ModelInfo] | None:
    if not _is_public_name(base_url):
        return None
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider_model(language_model, None, None, base_url)
    except LookupError:
        return None


def _is_public_name(base_url: str) -> bool:
    """Tell whether the server of *base_url* has a name with a dot in it, as no machine at home needs."""
    host = (urlsplit(base_url).hostname or "").removesuffix(".")
    try:
        ip_address(host)
    except ValueError:
        return "." in host
    return False


def _is_covered(listed: ModelPrice) -> bool:
    """Tell whether every unit that a request for text is billed by is among the prices that we follow."""
    names = (name for name, price in vars(listed).items() if price is not None and name not in COVERED)
    return all(any(part in name for part in NOT_FOR_TEXT) for name in names)


def _tiers(prices: Sequence[ListedPrice]) -> tuple[PriceTier, ...]:
    from genai_prices.types import TieredPrices

    starts = {tier.start for price in prices if isinstance(price, TieredPrices) for tier in price.tiers}
    return tuple(PriceTier(start, UnitPrices(**_at(prices, input_tokens=start + 1))) for start in sorted(starts))


def _at(prices: Sequence[ListedPrice], *, input_tokens: int) -> dict[str, Any]:
    """Return the fields of `UnitPrices` with so many tokens of input."""
    at = (_rounded(_price(price, input_tokens=input_tokens)) for price in prices)
    return dict(zip(PRICE_NAMES, at, strict=True))


def _price(price: ListedPrice, *, input_tokens: int) -> Decimal | None:
    """Return the price with so many tokens of input: that of the highest tier passed, for all of them."""
    if price is None or isinstance(price, Decimal):
        return price
    return next((tier.price for tier in reversed(price.tiers) if input_tokens > tier.start), price.base)


def _rounded(price: Decimal | None) -> Decimal | None:
    """Return the price as the ledger's columns can keep it: some of the data has passed through floats."""
    return None if price is None else round(price, PRICE_DECIMALS)
