"""Which dialect a server is spoken to in, and how the settings correct it."""

import datetime as dt
from dataclasses import fields, replace

import pytest

from conversations.core.prompt.prompt_format import PromptFormat
from conversations.providers.catalog.known_dialects import DIALECT_WORDS, KNOWN, known_dialect
from conversations.providers.catalog.language_models import parse_language_models
from conversations.providers.openai_api.dialect import PLAIN_DIALECT, Dialect

OPENAI = "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("language_model", "base_url", "name"),
    [
        ("gpt-4o", OPENAI, "OpenAI and Azure"),
        ("gpt-5.2", OPENAI, "OpenAI and Azure"),
        ("o3", OPENAI, "OpenAI and Azure"),
        ("gpt-5.4-mini", OPENAI, "OpenAI, GPT-5.4 and 5.5"),
        ("gpt-5.5", OPENAI, "OpenAI, GPT-5.4 and 5.5"),
        ("gpt-5.6", OPENAI, "OpenAI, GPT-5.6 and later"),
        ("gpt-5.10", OPENAI, "OpenAI, GPT-5.6 and later"),
        ("gpt-6-mini", OPENAI, "OpenAI, GPT-5.6 and later"),
        ("ft:gpt-6:acme", OPENAI, "OpenAI, GPT-5.6 and later"),
        ("gpt-6", "https://house.openai.azure.com/openai/v1", "Azure, GPT-5.4 and later"),
        ("gpt-5.5-mini", "https://house.openai.azure.com/openai/v1", "Azure, GPT-5.4 and later"),
        ("gpt-4o", "https://house.openai.azure.com/openai/v1", "OpenAI and Azure"),
        ("our-deployment", "https://house.openai.azure.com/openai/v1", "OpenAI and Azure"),
        ("gpt-4o", "https://api.mistral.ai/v1", "Mistral"),
        ("anthropic/claude-sonnet-5", "https://openrouter.ai/api/v1", "OpenRouter, Claude"),
        ("openai/gpt-6", "https://openrouter.ai/api/v1", "OpenRouter"),
        ("deepseek-reasoner", "https://api.deepseek.com", "DeepSeek and Kimi"),
        ("kimi-k3", "https://api.moonshot.ai/v1", "DeepSeek and Kimi"),
        ("deepseek-v4", "http://localhost:8000/v1", "DeepSeek and Kimi, served elsewhere"),
        ("gemini-3-pro", "https://generativelanguage.googleapis.com/v1beta/openai/", "Gemini"),
        ("claude-opus-5", "https://api.anthropic.com/v1/", "Anthropic's OpenAI-compatible address"),
    ],
)
def test_a_known_server_has_its_dialect(language_model, base_url, name):
    [dialect] = [known.dialect for known in KNOWN if known.name == name]
    assert known_dialect(language_model, base_url=base_url) is dialect


@pytest.mark.parametrize(
    "base_url",
    ["http://localhost:11434/v1", "https://api.openai.com.evil.example/v1", "https://notmistral.ai/v1", ""],
)
def test_an_unknown_server_has_the_plain_dialect(base_url):
    assert known_dialect("gpt-6", base_url=base_url) is PLAIN_DIALECT


def configured(options, base_url="http://localhost:4000/v1"):
    [model] = parse_language_models(f"m context_window=8192 {options}", base_url=base_url)
    return model


def test_the_settings_correct_a_dialect():
    model = configured("wire=responses cache_breakpoints=anthropic sent_back=reasoning_content|extra_content")

    assert model.dialect.prompt_format == model.language_model.prompt_format == PromptFormat("responses", "anthropic")
    assert model.dialect.output_limit_field == "max_output_tokens"
    assert model.dialect.sent_back == {"reasoning_content", "extra_content"}
    assert configured('sent_back="reasoning_content, extra_content"').dialect.sent_back == model.dialect.sent_back
    assert configured("sent_back=none").dialect.sent_back == frozenset()
    assert configured("").dialect == PLAIN_DIALECT


def test_a_newer_model_of_openai_can_be_asked_over_chat_completions():
    [model] = parse_language_models("gpt-6 context_window=8192 wire=chat cache_breakpoints=none", base_url=OPENAI)
    assert model.dialect.prompt_format == PromptFormat("chat", "")
    assert model.dialect.output_limit_field == "max_completion_tokens"


@pytest.mark.parametrize(
    ("option", "changed"),
    [
        ("output_limit_field=max_completion_tokens", {"output_limit_field": "max_completion_tokens"}),
        ("cache_key=yes", {"takes_cache_key": True}),
        ("stream_options=no", {"takes_stream_options": False}),
        ("effort_field=reasoning", {"effort": "reasoning"}),
        ("effort_field=none", {"effort": ""}),
        ("think_tags=no", {"think_tags": "no"}),
        ("sent_back=reasoning_content", {"sent_back": frozenset({"reasoning_content"})}),
        ("request_mb=10", {"largest_request_mb": 10}),
        ("cache_breakpoints=anthropic", {"prompt_format": PromptFormat("chat", "anthropic")}),
    ],
)
def test_each_word_corrects_its_field_alone(option, changed):
    assert configured(option).dialect == replace(PLAIN_DIALECT, **changed)


def test_what_is_known_can_be_corrected_the_other_way_too():
    options = "output_limit_field=max_tokens cache_key=no stream_options=no effort_field=none think_tags=yes"
    [model] = parse_language_models(f"gpt-4o {options}", base_url=OPENAI)
    assert model.dialect == replace(PLAIN_DIALECT, takes_stream_options=False, effort="")
    assert configured("stream_options=yes", "https://api.mistral.ai/v1").dialect == PLAIN_DIALECT


def test_every_field_of_a_dialect_has_a_word():
    """*prompt_format* is two: the API, and its breakpoints."""
    assert len(DIALECT_WORDS) == len(fields(Dialect)) + 1
    options = "wire=chat cache_breakpoints=none sent_back=none output_limit_field=max_tokens cache_key=yes"
    options += " stream_options=no effort_field=none think_tags=no request_mb=20"
    assert {option.partition("=")[0] for option in options.split()} == set(DIALECT_WORDS)
    assert configured(options).dialect == Dialect(
        takes_cache_key=True,
        takes_stream_options=False,
        sent_back=frozenset(),
        effort="",
        think_tags="no",
        largest_request_mb=20,
    )


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("wire=grpc", "wire=grpc, which is none of chat, responses"),
        ("cache_breakpoints=some", "none of none, openai, anthropic"),
        ("sent_back=thoughts", "in which thoughts is none of none, reasoning_content, "),
        ("sent_back=", "sent_back=, in which a value is missing"),
        ("output_limit_field=8192", "output_limit_field=8192, which is none of max_tokens, max_completion_tokens"),
        ("output_limit_field=max_output_tokens", "none of max_tokens, max_completion_tokens"),
        ("wire=responses output_limit_field=max_tokens", "none of max_output_tokens"),
        ("cache_key=sometimes", "neither yes nor no"),
        ("stream_options=usage", "neither yes nor no"),
        ("wire=responses stream_options=no", "which is of Chat Completions alone"),
        ("effort_field=effort", "none of none, reasoning_effort, reasoning"),
        ("wire=responses effort_field=reasoning_effort", "none of none, reasoning"),
        ("request_mb=0", "not a whole number of megabytes above 0"),
        ("think_tags=maybe", "none of yes, no, prefilled"),
    ],
)
def test_what_no_dialect_has_is_refused_with_what_to_write(option, message):
    with pytest.raises(ValueError, match=r"^LANGUAGE_MODELS: m has ") as refused:
        configured(option)
    assert message in str(refused.value)


def test_each_row_names_its_source_and_its_date():
    assert all(known.source.startswith("https://") for known in KNOWN)
    assert all(dt.date.fromisoformat(known.checked) <= dt.datetime.now(dt.UTC).date() for known in KNOWN)
