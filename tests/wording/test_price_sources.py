"""Where a price comes from, in the reader's language."""

import pytest
from django.utils.translation import override

from conversations.core.money.unit_prices import PriceTier, UnitPrices
from conversations.providers.demo import DEMO_PRICES
from conversations.wording.price_sources import price_source_label

IN_CHINESE = {
    DEMO_PRICES.source: "演示模型免费",
    "set in the admin, valid from 2026-11-01": "在管理后台设置，自 2026-11-01 起生效",
    "genai-prices 0.0.40: openai/gpt on 2026-11-21": "genai-prices 0.0.40: openai/gpt，2026-11-21",
    "LANGUAGE_MODELS": "LANGUAGE_MODELS",
}


@pytest.mark.parametrize("stored", IN_CHINESE)
def test_a_source_is_said_in_the_readers_language(stored):
    with override("zh-hans"):
        assert price_source_label(stored) == IN_CHINESE[stored]


@pytest.mark.parametrize("stored", IN_CHINESE)
def test_in_english_it_is_as_it_was_kept(stored):
    assert price_source_label(stored) == stored


@pytest.mark.parametrize(
    ("tokens", "said"), [(1, "，不超过 200,000 个输入 token"), (200_001, "，超过 200,000 个输入 token")]
)
def test_a_tier_is_said_with_its_source(tokens, said):
    tier = PriceTier(200_000, UnitPrices(None, None))
    stored = UnitPrices(None, None, source="LANGUAGE_MODELS", tiers=(tier,)).for_input(tokens).source
    with override("zh-hans"):
        assert price_source_label(stored) == f"LANGUAGE_MODELS{said}"
