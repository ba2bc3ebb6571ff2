import datetime as dt
from decimal import Decimal

import genai_prices
import pytest
from genai_prices import Usage as ListedUsage
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ModelPrice

from conversations.core.money.unit_prices import PRICE_DECIMALS, cost_usd
from conversations.core.money.usage import Usage
from conversations.providers.catalog import published_prices as module
from conversations.providers.catalog.published_prices import known_context_window, unit_prices

NOW = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)
OPENAI = "https://api.openai.com/v1"
GEMINI = "https://generativelanguage.googleapis.com/v1beta/openai"
DEEPSEEK = "https://api.deepseek.com"
PERPLEXITY = "https://api.perplexity.ai"


def test_a_hosted_models_price_is_known_and_says_where_from():
    prices = unit_prices("gpt-4o-mini", base_url=OPENAI, at=NOW)

    assert (prices.input_usd, prices.output_usd) == (Decimal("0.15"), Decimal("0.6"))
    assert prices.cached_input_usd == Decimal("0.075")
    assert prices.source == f"genai-prices {genai_prices.__version__}: openai/gpt-4o-mini on 2026-11-21"


def test_the_version_of_the_list_is_read_once(monkeypatch):
    known = unit_prices("gpt-4o-mini", base_url=OPENAI, at=NOW)
    monkeypatch.setattr(module, "version", None)  # can't be called
    assert unit_prices("gpt-4o-mini", base_url=OPENAI, at=NOW) == known


def test_the_day_of_a_price_is_the_day_in_utc():
    at = dt.datetime(2026, 11, 21, 1, tzinfo=dt.timezone(dt.timedelta(hours=9)))
    assert unit_prices("gpt-4o-mini", base_url=OPENAI, at=at).source.endswith("on 2026-11-20")


@pytest.mark.parametrize(
    ("language_model", "base_url"),
    [
        ("gpt-4o-mini", "http://localhost:11434/v1"),
        ("qwen3:8b", "http://localhost:11434/v1"),
        ("deepseek-chat", "http://192.168.0.7:8000/v1"),
        ("no-such-model", OPENAI),
        ("gpt-4o-mini", ""),
    ],
)
def test_an_unknown_model_or_provider_has_no_price_and_no_limit(language_model, base_url):
    assert unit_prices(language_model, base_url=base_url, at=NOW) is None
    assert known_context_window(language_model, base_url=base_url) is None


def test_above_a_threshold_all_tokens_cost_more():
    prices = unit_prices("gemini-2.5-pro", base_url=GEMINI, at=NOW)
    dollars = [(at.input_usd, at.output_usd) for at in (prices.for_input(200_000), prices.for_input(200_001))]

    assert dollars == [(Decimal("1.25"), 10), (Decimal("2.5"), 15)]
    assert prices.for_input(200_001).source.endswith("on 2026-11-21, above 200,000 input tokens")


def test_writing_to_the_cache_has_a_price_where_it_is_billed():
    assert unit_prices("gpt-5.6-sol", base_url=OPENAI, at=NOW).cache_write_usd == Decimal(5)
    assert unit_prices("gpt-4o", base_url=OPENAI, at=NOW).cache_write_usd is None


def test_a_price_is_that_of_its_time():
    before, after = (dt.datetime(year, 1, 1, tzinfo=dt.UTC) for year in (2024, 2026))
    o3 = [unit_prices("o3", base_url=OPENAI, at=at).input_usd for at in (before, after)]

    assert o3 == [Decimal(10), Decimal(2)]


@pytest.mark.parametrize(("hour", "dollars"), [(0, "0.15"), (1, "0.3"), (3, "0.3"), (4, "0.15"), (6, "0.3")])
def test_a_price_is_that_of_its_hour(hour, dollars):
    at = NOW.replace(hour=hour).astimezone(dt.timezone(dt.timedelta(hours=-7)))
    assert unit_prices("deepseek-flash", base_url=DEEPSEEK, at=at).input_usd == Decimal(dollars)


@pytest.mark.parametrize("language_model", ["sonar-pro", "sonar-deep-research"])
def test_a_model_that_bills_text_in_further_units_has_no_price(language_model):
    """The first asks a fee for each request, the second has prices of its own for reasoning and citations."""
    assert unit_prices(language_model, base_url=PERPLEXITY, at=NOW) is None


def test_units_that_text_has_no_use_for_change_nothing():
    assert unit_prices("gpt-4o", base_url=OPENAI, at=NOW).input_usd == Decimal("2.5")  # it bills searches, too


def test_a_unit_that_is_not_known_to_be_harmless_makes_a_price_unknown():
    assert module._is_covered(ModelPrice(input_mtok=Decimal(1), web_searches_kcount=Decimal(1)))
    assert not module._is_covered(ModelPrice(input_mtok=Decimal(1), input_mchars=Decimal(1)))


def test_where_only_input_is_billed_only_input_has_a_price():
    prices = unit_prices("text-embedding-3-small", base_url=OPENAI, at=NOW)

    assert cost_usd(Usage(1_000_000, 0), prices) == Decimal("0.02")
    assert cost_usd(Usage(1_000_000, 1), prices) is None


@pytest.mark.parametrize("input_tokens", [10_000, 199_999, 200_000, 200_001, 272_000, 272_001, 1_000_000])
@pytest.mark.parametrize(
    ("language_model", "base_url"),
    [("gpt-4o-mini", OPENAI), ("gpt-6.1-sol", OPENAI), ("gemini-2.5-pro", GEMINI), ("deepseek-v4-pro", DEEPSEEK)],
)
def test_a_cost_is_what_the_package_says_it_is(language_model, base_url, input_tokens):
    usage = Usage(input_tokens, 700, cached_input_tokens=6_000, cache_write_tokens=0)
    provider, model = get_snapshot().find_provider_model(language_model, None, None, base_url)
    listed = ListedUsage(input_tokens=input_tokens, output_tokens=700, cache_read_tokens=6_000)
    expected = model.calc_price(listed, provider, genai_request_timestamp=NOW).total_price
    assert cost_usd(usage, unit_prices(language_model, base_url=base_url, at=NOW)) == expected


def test_every_price_of_the_list_can_be_kept_by_the_ledger():
    for provider in get_snapshot().providers:
        for model in provider.models:
            listed = model.get_prices(NOW)
            for price in [getattr(listed, name) for name in module.COVERED]:
                rounded = module._rounded(module._price(price, input_tokens=10**9))
                assert rounded is None or (0 <= rounded < 10**8 and -rounded.as_tuple().exponent <= PRICE_DECIMALS)


def test_the_context_window_is_known_where_the_data_has_it():
    assert known_context_window("gpt-4o", base_url=OPENAI) == 128_000
    assert known_context_window("mistral-large-latest", base_url="https://api.mistral.ai/v1") is None
