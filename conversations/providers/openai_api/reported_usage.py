"""Usage as providers report it: the *usage* object of OpenAI's API, and other providers' variants of it.

    {"prompt_tokens", "completion_tokens", "total_tokens",
     "prompt_tokens_details": {"cached_tokens", "cache_write_tokens"},
     "completion_tokens_details": {"reasoning_tokens"}}

At OpenAI the details are parts of the prompt and of the completion. Elsewhere they may stand beside them, and then only
the total gives it away: reasoning at xAI and Gemini, the cache at gateways that pass Anthropic's counts on. What no
detail explains of a total is reasoning that was not named, and billed as output.

That no tokens were cached is a report; vLLM names none unless it is told to, Ollama never does. llama.cpp says it
beside the usage, in the chunk's *timings*: {"cache_n", "prompt_n", "predicted_n"}, checked 2026-11-23:
https://github.com/ggml-org/llama.cpp/pull/15827

Numbers that contradict each other, or are none, are no usage: an estimate that says so is better than a wrong number
that looks exact. A cost that a provider names is read by `reported_cost`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from conversations.core.money.usage import Usage

from .reported_cost import parse_reported_cost_usd

MOST_TOKENS = 2**31 - 1  # what the ledger's columns hold
# The same number under the names of several providers: it is counted once, even if one answer has two of them.
CACHED = (
    ("prompt_tokens_details", "cached_tokens"),
    ("prompt_cache_hit_tokens",),  # DeepSeek
    ("cached_tokens",),  # Moonshot, Anthropic's OpenAI endpoint
    ("cache_read_input_tokens",),  # Anthropic's own name
)
WRITTEN = (
    ("prompt_tokens_details", "cache_write_tokens"),
    ("cache_creation_input_tokens",),  # Anthropic's own name
)
REASONING = (("completion_tokens_details", "reasoning_tokens"), ("reasoning_tokens",))


def parse_usage(reported: object, timings: object = None) -> Usage | None:
    """Return the tokens that a provider reports, or None where they can't be trusted; *timings* are llama.cpp's."""
    if not isinstance(reported, Mapping):
        return None
    try:
        usage = _parse(reported)
    except ValueError:
        return None
    if usage.cached_input_tokens is None:
        usage = replace(usage, cached_input_tokens=_cached_by_timings(timings, usage))
    return replace(usage, reported_cost_usd=parse_reported_cost_usd(reported))


def leave_out_uncounted(usage: Usage | None, *, has_text: bool) -> Usage | None:
    """Return *usage*, or None where it is from before the first word, or the server does not count what it writes."""
    return usage if usage and (usage.output_tokens > 0 or not has_text) else None


def _parse(reported: Mapping[str, Any]) -> Usage:
    prompt, completion, total = (_number(reported.get(f"{name}_tokens")) for name in ("prompt", "completion", "total"))
    reported_cached, written, reasoning = (_named(reported, *names) for names in (CACHED, WRITTEN, REASONING))
    cached, written, reasoning = reported_cached or 0, written or 0, reasoning or 0
    if not prompt or (completion is None and not total):
        raise ValueError("no prompt is empty, and some number must say what came")
    output = completion or 0
    beyond = total - prompt - output if total else 0
    if (held := cached + written) and _is_beside(reported, prompt, held=held, beyond=beyond, reasoning=reasoning):
        prompt, beyond = prompt + held, max(0, beyond - held)
    output += beyond
    if reasoning > output:  # so it is no part of it, and the total left it out or is missing
        output += reasoning
    if beyond < 0 or cached + written > prompt:
        raise ValueError("the numbers contradict each other")
    return Usage(_storable(prompt), _storable(output), reported_cached, reasoning, cache_write_tokens=written)


def _is_beside(reported: Mapping[str, Any], prompt: int, *, held: int, beyond: int, reasoning: int) -> bool:
    """Tell whether the *held* tokens, read from the cache or written to it, are not among those of the prompt."""
    is_anthropic = not {"cache_read_input_tokens", "cache_creation_input_tokens"}.isdisjoint(reported)
    return beyond in (held, held + reasoning) or (is_anthropic and held > prompt)


def _cached_by_timings(timings: object, usage: Usage) -> int | None:
    """Return how much of the prompt llama.cpp had in its cache; what is no such number is no report."""
    if not isinstance(timings, Mapping):
        return None
    try:
        cached = _number(timings.get("cache_n"))
    except ValueError:
        return None
    return cached if cached is None or cached + usage.cache_write_tokens <= usage.input_tokens else None


def _named(reported: Mapping[str, Any], *names: tuple[str, ...]) -> int | None:
    """Return the number that stands under the first of *names* which does not say 0; 0 if one does, or else None."""
    numbers = [number for path in names if (number := _number(_found(reported, path))) is not None]
    return next(filter(None, numbers), 0 if numbers else None)


def _found(reported: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    *folders, name = path
    for folder in folders:
        reported = reported.get(folder) or {}
        if not isinstance(reported, Mapping):
            raise ValueError(folder)
    return reported.get(name)


def _number(value: object) -> int | None:
    """Return a number of tokens, None if there is none. Raises `ValueError` for anything else, as true or "5"."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        raise ValueError(value)
    return _storable(int(value))


def _storable(tokens: int) -> int:
    if not 0 <= tokens <= MOST_TOKENS:
        raise ValueError(tokens)
    return tokens
