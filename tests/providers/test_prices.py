import datetime as dt
from decimal import Decimal

import genai_prices
import pytest

from conversations.providers.prices import known_context_window, unit_prices

NOW = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)
OPENAI = "https://api.openai.com/v1"


def test_a_hosted_models_price_is_known_and_says_where_from():
    prices = unit_prices("gpt-4o-mini", base_url=OPENAI, at=NOW)

    assert (prices.input_usd, prices.output_usd) == (Decimal("0.15"), Decimal("0.6"))
    assert prices.cached_input_usd == Decimal("0.075")
    assert prices.source == f"genai-prices {genai_prices.__version__}: openai/gpt-4o-mini on 2026-11-21"


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


def test_a_price_with_tiers_is_the_base_price_and_says_so():
    prices = unit_prices("gemini-2.5-pro", base_url="https://generativelanguage.googleapis.com/v1beta/openai", at=NOW)

    assert prices.input_usd == Decimal("1.25")
    assert prices.source.endswith("base tier")


def test_a_price_is_that_of_its_time():
    before, after = (dt.datetime(year, 1, 1, tzinfo=dt.UTC) for year in (2024, 2026))
    o3 = [unit_prices("o3", base_url=OPENAI, at=at).input_usd for at in (before, after)]

    assert o3 == [Decimal(10), Decimal(2)]


def test_the_context_window_is_known_where_the_data_has_it():
    assert known_context_window("gpt-4o", base_url=OPENAI) == 128_000
    assert known_context_window("mistral-large-latest", base_url="https://api.mistral.ai/v1") is None
