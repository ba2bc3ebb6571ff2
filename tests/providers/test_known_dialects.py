"""Which dialect a server is spoken to in, and how the settings correct it."""

import pytest

from conversations.core.prompt.wires import PromptForm
from conversations.providers.catalog.known_dialects import KNOWN, known_dialect
from conversations.providers.catalog.language_models import parse_language_models
from conversations.providers.wire.dialect import PLAIN_DIALECT

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

    assert model.dialect.form == model.language_model.form == PromptForm("responses", "anthropic")
    assert model.dialect.output_limit_field == "max_output_tokens"
    assert model.dialect.sent_back == {"reasoning_content", "extra_content"}
    assert configured("sent_back=none").dialect.sent_back == frozenset()
    assert configured("").dialect == PLAIN_DIALECT


def test_a_newer_model_of_openai_can_be_asked_over_chat_completions():
    [model] = parse_language_models("gpt-6 context_window=8192 wire=chat cache_breakpoints=none", base_url=OPENAI)
    assert model.dialect.form == PromptForm("chat", "")
    assert model.dialect.output_limit_field == "max_completion_tokens"


@pytest.mark.parametrize("option", ["wire=grpc", "cache_breakpoints=some", "sent_back=thoughts", "sent_back="])
def test_what_no_dialect_has_is_refused_with_what_to_write(option):
    with pytest.raises(ValueError, match=r"^LANGUAGE_MODELS: m has "):
        configured(option)


def test_each_row_names_its_source_and_its_date():
    assert all(known.source.startswith("https://") and known.checked.startswith("2026-") for known in KNOWN)
