import datetime as dt
from decimal import Decimal

import pytest

from conversations.providers.catalog.embedding_models import embedding_api_key, embedding_model, parse_embedding_model

NOW = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)


@pytest.fixture
def configured(settings):
    settings.OPENAI_EMBEDDING_MODEL, settings.OPENAI_API_KEY = "text-embedding-3-small", "sk-chat"
    return settings


def test_a_hosted_model_needs_its_name_alone():
    model = parse_embedding_model("text-embedding-3-small")
    assert (model.encoding, model.context_window_tokens, model.floor) == ("cl100k_base", 8192, 0.3)
    assert model.unit_prices(NOW).input_usd == Decimal("0.02")


def test_words_after_the_name_come_before_what_is_known():
    spec = "m context_window=2048 encoding=o200k_base input_usd=0.5 dimensions=256 floor=0"
    model = parse_embedding_model(spec)
    assert (model.context_window_tokens, model.encoding, model.dimensions, model.floor) == (2048, "o200k_base", 256, 0)
    assert model.unit_prices(NOW).input_usd == Decimal("0.5")


def test_a_model_no_one_knows_is_cut_early_and_has_no_price():
    model = parse_embedding_model("nomic-embed-text", base_url="http://localhost:11434/v1")
    assert model.context_window_tokens == 512
    assert model.unit_prices(NOW) is None


def test_vectors_of_another_length_are_told_apart():
    labels = {parse_embedding_model(spec).label for spec in ("m", "m dimensions=256", "m dimensions=512 floor=0.1")}
    assert labels == {"m", "m 256", "m 512"}


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("a, b", "name one model"),
        (",", "name one model"),
        ("m dimensions=0", "whole number of dimensions above 0"),
        ("m dimensions=16001", "more than the 16,000 that can be kept"),
        ("m context_window=many", "whole number of tokens above 0"),
        ("m floor=2", "not a number from 0 to 1"),
        ("m floor=nan", "not a number from 0 to 1"),
        ("m floor=high", "not a number from 0 to 1"),
        ("m input_usd=-1", "not a price"),
        ("m output_usd=1", "none of context_window="),
        ("m encoding=gpt2", "known are cl100k_base and o200k_base"),
    ],
)
def test_what_is_wrong_is_said(spec, complaint):
    with pytest.raises(ValueError, match=complaint) as raised:
        parse_embedding_model(spec)
    assert str(raised.value).startswith("OPENAI_EMBEDDING_MODEL: ")


def test_without_a_model_there_are_no_embeddings(configured):
    configured.OPENAI_EMBEDDING_MODEL = ""
    assert embedding_model() is None


def test_the_demo_has_no_embeddings(configured):
    configured.OPENAI_API_KEY = ""
    assert embedding_model() is None


def test_an_endpoint_of_its_own_serves_the_demo_too(configured):
    configured.OPENAI_API_KEY, configured.OPENAI_EMBEDDING_BASE_URL = "", "http://localhost:11434/v1"
    assert embedding_model().base_url == "http://localhost:11434/v1"


def test_the_chat_providers_address_and_key_serve_for_both(configured):
    configured.OPENAI_BASE_URL = "https://llm.example.org/v1"
    assert (embedding_model().base_url, embedding_api_key()) == ("https://llm.example.org/v1", "sk-chat")


def test_the_chat_providers_key_goes_to_no_other_address(configured):
    configured.OPENAI_EMBEDDING_BASE_URL = "https://vectors.example.org/v1"
    assert embedding_api_key() is None


def test_a_key_of_its_own_comes_first(configured):
    configured.OPENAI_EMBEDDING_API_KEY = "sk-vectors"
    assert embedding_api_key() == "sk-vectors"
