import datetime as dt
from decimal import Decimal

import pytest

from conversations.core.money.unit_prices import UnitPrices
from conversations.core.window.budget import ChatFormat
from conversations.providers.catalog.language_models import (
    default_language_model,
    demo_is_used,
    language_models,
    parse_language_models,
)

HOME = "http://localhost:11434/v1"
NOW = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)
QWEN = (
    "qwen3:8b context_window=40960 reply_reserve=2048 encoding=cl100k_base input_usd=0.1 output_usd=0.2 "
    'cached_input_usd=0.05 cache_write_usd=0.3 label="Qwen, at home"'
)


def test_a_hosted_model_needs_only_its_name():
    (model,) = parse_language_models("gpt-4o-mini")

    assert model.name == model.label == "gpt-4o-mini"
    assert model.language_model.context_window_tokens == 128_000
    assert model.language_model.reply_reserve_tokens == 4_096
    assert model.language_model.encoding == "o200k_base"
    assert model.language_model.chat_format == ChatFormat()
    assert model.unit_prices(NOW).input_usd == Decimal("0.15")


def test_every_word_is_read():
    (model,) = parse_language_models(QWEN, base_url=HOME)
    prices = model.unit_prices(NOW)

    assert model.language_model.context_window_tokens == 40_960
    assert model.language_model.reply_reserve_tokens == 2_048
    assert model.language_model.encoding == "cl100k_base"
    assert model.label == "Qwen, at home"
    amounts = map(Decimal, ("0.1", "0.2", "0.05", "0.3"))
    assert prices == UnitPrices(*amounts, source="LANGUAGE_MODELS")


@pytest.mark.parametrize("separator", [",", ", ", " ,\n", ",,", ", ,"])
def test_models_are_separated_by_commas(separator):
    models = parse_language_models(separator.join(["gpt-4o", QWEN, "gpt-4"]))

    assert [model.name for model in models] == ["gpt-4o", "qwen3:8b", "gpt-4"]


def test_a_small_model_reserves_a_quarter_of_its_window():
    (model,) = parse_language_models("tiny context_window=2000", base_url=HOME)

    assert model.language_model.reply_reserve_tokens == 500


def test_a_model_at_home_has_no_price_unless_it_is_given():
    (model,) = parse_language_models("gpt-4o-mini context_window=8192", base_url=HOME)

    assert model.unit_prices(NOW) is None


def test_given_prices_come_before_known_ones():
    (model,) = parse_language_models("gpt-4o-mini input_usd=0 output_usd=0")

    assert model.unit_prices(NOW).input_usd == 0


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("", "name at least one language model"),
        (" , ", "name at least one language model"),
        ("qwen3:8b", r"context window of qwen3:8b is not known; write: qwen3:8b context_window=N"),
        ("m context_window=many", "m has context_window=many, which is not a whole number"),
        ("m context_window=0", "not a whole number of tokens above 0"),
        ("m context_window=-5", "not a whole number of tokens above 0"),
        ("m context_window=4096 reply_reserve=5000", "the reply reserve .5000 tokens. must be above 0 and below"),
        ("m context_window=4096 encoding=gpt2", "m has encoding=gpt2, known are cl100k_base and o200k_base"),
        ("m context_window=4096 speed=9", "m has 'speed=9', which is none of context_window="),
        ("m two words", "m has 'two', which is none of"),
        ("m context_window=4096 input_usd=1", "m needs both input_usd= and output_usd="),
        ("m context_window=4096 input_usd=cheap output_usd=1", "m has input_usd=cheap, which is not a price"),
        ("m context_window=4096 input_usd=-1 output_usd=1", "which is not a price"),
        ("m context_window=4096 input_usd=NaN output_usd=1", "which is not a price"),
        ("m context_window=4096 input_usd=1e30 output_usd=1", "which is not a price"),
        ("m context_window=4096 input_usd=1 output_usd=1 cache_write_usd=1000000.1", "which is not a price"),
        ("m context_window=4096 input_usd=0.000000001 output_usd=1", "with at most 8 decimals"),
        ("m, context_window=4096", "context window of m is not known"),
        ("gpt-4o, context_window=4096", "'context_window=4096' stands where a model's name is expected"),
        ('m context_window=4096 label="open', "a quotation mark is not closed"),
    ],
)
def test_what_is_wrong_is_said(spec, complaint):
    with pytest.raises(ValueError, match=complaint):
        parse_language_models(spec, base_url=HOME if spec.startswith(("m", "q")) else "https://api.openai.com/v1")


@pytest.fixture
def provider(settings):
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = "", "sk-test"
    settings.LANGUAGE_MODELS = "gpt-4o-mini, gpt-4o"
    return settings


def test_without_a_provider_there_is_the_demo_model(provider):
    provider.OPENAI_API_KEY = ""

    assert demo_is_used()
    assert list(language_models()) == ["windowseat-demo", "windowseat-demo-32k"]
    assert default_language_model().language_model.context_window_tokens == 4_096
    assert default_language_model().unit_prices(NOW).input_usd == 0


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "OPENAI_BASE_URL"])
def test_a_key_or_an_address_is_a_provider(provider, name):
    provider.OPENAI_API_KEY = ""
    setattr(provider, name, "https://api.openai.com/v1" if name.endswith("URL") else "sk-test")

    assert not demo_is_used()
    assert list(language_models()) == ["gpt-4o-mini", "gpt-4o"]
    assert default_language_model().name == "gpt-4o-mini"


def test_a_model_named_twice_is_refused(provider):
    provider.LANGUAGE_MODELS = "gpt-4o, gpt-4o"

    with pytest.raises(ValueError, match="named twice"):
        language_models()
