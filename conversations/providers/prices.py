"""What tokens cost and how many a model takes, by the data that ships with genai_prices. Its only importer.

Prices are US dollars for a million tokens. The data is the package's own snapshot: nothing is ever fetched, and a new
version of the package is a new price list. A price is looked up only at a provider that the data knows by its address,
so that a model served at home is never billed as its hosted namesake.

Some models cost more once a prompt passes a threshold, and some bill writing to their cache; both are left out, and the
source then says "base tier". Those are per language model, and can be overridden in the settings.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import genai_prices
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelInfo, Provider, TieredPrices

from conversations.core.usage import UnitPrices


def unit_prices(language_model: str, *, base_url: str, at: dt.datetime) -> UnitPrices | None:
    """Return what the provider at *base_url* asked at that time, or None where it is not known."""
    if (found := _find(language_model, base_url)) is None:
        return None
    provider, model = found
    prices = model.get_prices(at)
    input_usd, output_usd = _base(prices.input_mtok), _base(prices.output_mtok)
    if input_usd is None or output_usd is None:
        return None
    tier = ", base tier" if isinstance(prices.input_mtok, TieredPrices) else ""
    source = f"genai-prices {genai_prices.__version__}: {provider.id}/{model.id} on {at:%Y-%m-%d}{tier}"
    return UnitPrices(input_usd, output_usd, _base(prices.cache_read_mtok), source=source)


def known_context_window(language_model: str, *, base_url: str) -> int | None:
    """Return how many tokens the model takes at the provider at *base_url*, or None where it is not known."""
    found = _find(language_model, base_url)
    return found[1].context_window if found else None


def _find(language_model: str, base_url: str) -> tuple[Provider, ModelInfo] | None:
    try:
        return get_snapshot().find_provider_model(language_model, None, None, base_url)
    except LookupError:
        return None


def _base(price: Decimal | TieredPrices | None) -> Decimal | None:
    return price.base if isinstance(price, TieredPrices) else price
