"""Which unit prices hold for a language model at a moment, and which a completion was made at.

The newest price that an admin set with a day (UTC) not after the moment's; else what the settings say beside the
model's name; else the price list that ships with the app, as of that moment; else it is unknown, which is None.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from chatsite.postgres.compiled_query import CompiledQuery
from chatsite.postgres.compiled_queryset import compiled_queryset
from conversations.core.money.unit_prices import UnitPrices
from conversations.models import Completion, Price
from conversations.providers.catalog.embedding_models import ConfiguredEmbeddingModel, embedding_model
from conversations.providers.catalog.language_models import language_models

NEWEST = CompiledQuery(
    Price.objects.all(), "WHERE language_model = %s AND valid_from <= %s ORDER BY valid_from DESC LIMIT 1"
)


def find_unit_prices(language_model: str, at: dt.datetime) -> UnitPrices | None:
    """Return the prices that hold for it at *at*, with one statement."""
    price = NEWEST.first(language_model, _day(at))
    return admin_unit_prices(price) if price else _listed(language_model, at)


def load_listed_prices() -> None:
    """Load the price list if a configured model may be in it: else the first reply after a start waits for it."""
    for configured in language_models().values():
        configured.unit_prices(timezone.now())


def all_unit_prices(at: dt.datetime, *, has_set_prices: bool = True) -> Mapping[str, UnitPrices | None]:
    """Return the prices that hold at *at* for each configured language model, in their order.

    With one statement for all, or none if it is known that an admin has set no price.
    """
    newest = _newest_of_each.all(_day(at)) if has_set_prices else []
    set_prices = {price.language_model: price for price in newest}
    return {
        name: admin_unit_prices(set_prices[name]) if name in set_prices else _listed(name, at)
        for name in language_models()
    }


@compiled_queryset
def _newest_of_each(day: dt.date) -> QuerySet[Price]:
    newest_first = Price.objects.filter(valid_from__lte=day).order_by("language_model", "-valid_from")
    return newest_first.distinct("language_model")


def admin_unit_prices(price: Price) -> UnitPrices:
    """Return what an admin set."""
    return UnitPrices(
        input_usd=price.input_usd,
        output_usd=price.output_usd,
        cached_input_usd=price.cached_input_usd,
        cache_write_usd=price.cache_write_usd,
        source=f"set in the admin, valid from {price.valid_from:%Y-%m-%d}",
    )


def _listed(language_model: str, at: dt.datetime) -> UnitPrices | None:
    configured = language_models().get(language_model) or _embeddings(language_model)
    return configured.unit_prices(at) if configured else None


def _embeddings(name: str) -> ConfiguredEmbeddingModel | None:
    configured = embedding_model()
    return configured if configured and configured.name == name else None


def _day(at: dt.datetime) -> dt.date:
    return at.astimezone(dt.UTC).date()


def price_columns(prices: UnitPrices | None, *, input_tokens: int) -> dict[str, Any]:
    """Return the ledger's columns of the prices of a request with so many tokens of input."""
    used = (prices or UnitPrices(None, None)).for_input(input_tokens)
    return {
        "input_price_usd": used.input_usd,
        "cached_input_price_usd": used.cached_or_input_usd(),
        "cache_write_price_usd": used.cache_write_or_input_usd(),
        "output_price_usd": used.output_usd,
        "price_source": used.source[: Completion._meta.get_field("price_source").max_length],
    }


def price_list_column(prices: UnitPrices | None) -> dict[str, Any] | None:
    """Return what the ledger keeps of prices that rise with the input, on which the provider's count will decide."""
    return prices.to_json() if prices and prices.tiers else None


def prices_when_opened(completion: Completion) -> UnitPrices:
    """Return the prices that were written down when the request left, with their tiers."""
    if completion.price_list is not None:
        return UnitPrices.from_json(completion.price_list)
    return UnitPrices(
        input_usd=completion.input_price_usd,
        output_usd=completion.output_price_usd,
        cached_input_usd=completion.cached_input_price_usd,
        cache_write_usd=completion.cache_write_price_usd,
        source=completion.price_source,
    )
