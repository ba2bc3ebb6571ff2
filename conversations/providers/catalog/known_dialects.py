"""Which dialect the known servers speak: data with sources, so that it can be read, and corrected by a setting.

The first row whose domain and model fit decides; a server that is in none of them speaks the plain format. What a row
says is from documents alone: no provider was asked. Each field can be corrected for one model by an option of
LANGUAGE_MODELS: `DIALECT_WORDS`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, get_args
from urllib.parse import urlsplit

from conversations.core.prompt.prompt_format import PromptFormat
from conversations.providers.openai_api.dialect import (
    ALWAYS_SENT_BACK,
    CALL_REASONING_FIELDS,
    MESSAGE_REASONING_FIELDS,
    PLAIN_DIALECT,
    Dialect,
    DialectWord,
)
from conversations.providers.openai_api.think_tags import THINK_TAGS_USES

from .model_settings import NamedModel

WIRES: Final = ("chat", "responses")
BREAKPOINTS: Final = ("none", "openai", "anthropic")
# What each word takes, over either API: the Responses API has one field for the limit, and reports usage unasked.
OUTPUT_LIMIT_FIELDS: Final = {"chat": ("max_tokens", "max_completion_tokens"), "responses": ("max_output_tokens",)}
EFFORT_FIELDS: Final = {"chat": ("none", "reasoning_effort", "reasoning"), "responses": ("none", "reasoning")}
DIALECT_WORDS: Final = get_args(DialectWord)

# The largest request, checked 2026-11-25. Of OpenAI, 50 MB with up to 500 pictures, as of servers that tell of none:
# https://platform.openai.com/docs/guides/images-vision
_ANTHROPIC_MB: Final = 32  # https://docs.claude.com/en/api/overview (above it a 413)
# Of inline data; its newer 100 MB (https://blog.google/innovation-and-ai/technology/developers-tools) are not told of
# the OpenAI-compatible address: https://ai.google.dev/gemini-api/docs/image-understanding
_GEMINI_MB: Final = 20
_REASONING_CONTENT: Final = ALWAYS_SENT_BACK | {"reasoning_content"}
_OPENAI = Dialect(output_limit_field="max_completion_tokens", takes_cache_key=True, think_tags="no")


@dataclass(frozen=True, slots=True)
class KnownDialect:
    """The *dialect* of a server at one of *domains* (any, if there are none) for the models that *models* matches."""

    name: str
    dialect: Dialect
    source: str
    domains: tuple[str, ...] = ()
    models: str = ""
    checked: str = "2026-11-22"

    def fits(self, language_model: str, host: str) -> bool:
        is_there = not self.domains or any(host == each or host.endswith(f".{each}") for each in self.domains)
        return is_there and bool(re.search(self.models, language_model, re.IGNORECASE))


KNOWN: Final = (
    # Writes to the cache cost 1.25 of the input, and are found again at breakpoints alone.
    KnownDialect(
        "OpenAI, GPT-5.6 and later",
        replace(_OPENAI, prompt_format=PromptFormat("responses", "openai"), output_limit_field="max_output_tokens"),
        "https://platform.openai.com/docs/guides/prompt-caching https://github.com/danny-avila/LibreChat/issues/14355",
        ("api.openai.com",),
        r"^(ft:)?gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)",
    ),
    # Chat Completions answers tools together with reasoning by 400.
    KnownDialect(
        "OpenAI, GPT-5.4 and 5.5",
        replace(_OPENAI, prompt_format=PromptFormat("responses"), output_limit_field="max_output_tokens"),
        "https://github.com/danny-avila/LibreChat/issues/14231 https://github.com/pipecat-ai/pipecat/issues/4043",
        ("api.openai.com",),
        r"^(ft:)?gpt-5\.[45]",
    ),
    # By the name of a deployment: one that is not the model's own needs `wire=`. Of breakpoints nothing is said there.
    KnownDialect(
        "Azure, GPT-5.4 and later",
        replace(_OPENAI, prompt_format=PromptFormat("responses"), output_limit_field="max_output_tokens"),
        "https://learn.microsoft.com/en-us/azure/foundry/openai/how-to/responses",
        ("openai.azure.com",),
        r"^gpt-(5\.([4-9]|\d\d)|[6-9]|\d\d)",
        checked="2026-11-25",
    ),
    KnownDialect(
        "OpenAI and Azure",
        _OPENAI,
        "https://platform.openai.com/docs/api-reference/chat/create https://github.com/ollama/ollama/issues/7125",
        ("api.openai.com", "openai.azure.com"),
    ),
    KnownDialect(
        "Mistral",
        Dialect(takes_stream_options=False),
        "https://github.com/openai/openai-agents-python/issues/442 (stream_options is refused; usage comes unasked)",
        ("mistral.ai",),
        checked="2026-11-21",
    ),
    KnownDialect(
        "OpenRouter, Claude",
        Dialect(PromptFormat("chat", "anthropic"), effort="reasoning", largest_request_mb=_ANTHROPIC_MB),
        "https://openrouter.ai/docs/features/prompt-caching https://openrouter.ai/docs/use-cases/reasoning-tokens",
        ("openrouter.ai",),
        r"^~?anthropic/",
    ),
    KnownDialect(
        "OpenRouter",
        Dialect(effort="reasoning"),
        "https://openrouter.ai/docs/use-cases/reasoning-tokens (reasoning_details go back as they came)",
        ("openrouter.ai",),
    ),
    KnownDialect(
        "DeepSeek and Kimi",
        Dialect(sent_back=_REASONING_CONTENT),
        "https://api-docs.deepseek.com/guides/thinking_mode https://github.com/MoonshotAI/kimi-cli/issues/2141 "
        "https://github.com/charmbracelet/crush/issues/2754",
        ("api.deepseek.com", "moonshot.ai", "moonshot.cn"),
    ),
    # A signature with each call, which has to come back with it; it is among what is always sent back.
    KnownDialect(
        "Gemini",
        Dialect(largest_request_mb=_GEMINI_MB),
        "https://ai.google.dev/gemini-api/docs/thought-signatures https://github.com/Gitlawb/openclaude/issues/67",
        ("generativelanguage.googleapis.com",),
    ),
    KnownDialect(
        "Anthropic's OpenAI-compatible address",
        Dialect(effort="", largest_request_mb=_ANTHROPIC_MB),
        "https://docs.claude.com/en/api/openai-sdk (no prompt caching, no thinking text, effort ignored)",
        ("api.anthropic.com",),
    ),
    KnownDialect(
        "DeepSeek and Kimi, served elsewhere",
        Dialect(sent_back=_REASONING_CONTENT),
        "https://github.com/anomalyco/opencode/issues/25058",
        models=r"deepseek|kimi",
    ),
)


def known_dialect(language_model: str, *, base_url: str) -> Dialect:
    """Return the dialect of the server at *base_url* for that model, as far as it is known."""
    host = urlsplit(base_url).hostname or ""
    return next((known.dialect for known in KNOWN if known.fits(language_model, host)), PLAIN_DIALECT)


def configured_dialect(named: NamedModel, *, base_url: str) -> Dialect:
    """Return the dialect of a model as the settings name it, with what they correct. Raises `ValueError`."""
    known = known_dialect(named.name, base_url=base_url)
    wire = named.one_of("wire", WIRES) or known.prompt_format.wire
    breakpoints = _unless_none(named.one_of("cache_breakpoints", BREAKPOINTS), known.prompt_format.breakpoints)
    sent_back = named.some_of("sent_back", ("none", *MESSAGE_REASONING_FIELDS, *CALL_REASONING_FIELDS))
    if wire == "responses" and "stream_options" in named.given:
        raise named.error(
            "has stream_options=, which is of Chat Completions alone, and is asked over the Responses API"
        )
    return Dialect(
        prompt_format=PromptFormat(wire, breakpoints),  # type: ignore[arg-type]  # `one_of` has checked them
        output_limit_field=_output_limit_field(named, wire, known, base_url),
        takes_cache_key=_given(named.yes_or_no("cache_key"), known.takes_cache_key),
        takes_stream_options=_given(named.yes_or_no("stream_options"), known.takes_stream_options),
        sent_back=known.sent_back if sent_back is None else sent_back - {"none"},
        effort=_unless_none(named.one_of("effort_field", EFFORT_FIELDS[wire]), known.effort),  # type: ignore[arg-type]
        think_tags=named.one_of("think_tags", THINK_TAGS_USES) or known.think_tags,  # type: ignore[arg-type]
        largest_request_mb=named.whole_number("request_mb", of="megabytes") or known.largest_request_mb,
    )


def _given(given: bool | None, known: bool) -> bool:
    return known if given is None else given


def _unless_none(given: str | None, known: str) -> str:
    """Return what is given, which is nothing for the value `none`, or else what is known."""
    return known if given is None else given.replace("none", "")


def _output_limit_field(named: NamedModel, wire: str, known: Dialect, base_url: str) -> str:
    if given := named.one_of("output_limit_field", OUTPUT_LIMIT_FIELDS[wire]):
        return given
    if wire == known.prompt_format.wire:
        return known.output_limit_field
    if wire == "responses":
        return "max_output_tokens"
    is_openai = "openai" in (urlsplit(base_url).hostname or "")
    return _OPENAI.output_limit_field if is_openai else Dialect().output_limit_field
