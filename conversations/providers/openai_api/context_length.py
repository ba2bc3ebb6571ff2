"""Provider errors about a context that is too long: how to recognise them, the limit and the count that they state.

The wordings are those of OpenAI, vLLM, llama.cpp, Ollama, LM Studio, Anthropic, Gemini, Mistral, xAI, TGI, Groq and
OpenRouter, checked 2026-11-21; each stands in a test.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

CONTEXT_CODES = {"context_length_exceeded", "exceed_context_size_error", "model_max_prompt_tokens_exceeded"}
LONGEST_NUMBER = 12  # characters; what is longer is no number of tokens

_NUMBER = r"(?P<tokens>\d[\d,]*)"
_LIMIT_WORDINGS = [
    re.compile(wording, re.IGNORECASE)
    for wording in (
        rf"maximum (?:context|prompt|model) length (?:is|of) {_NUMBER}",  # OpenAI, vLLM, OpenRouter, xAI
        rf"exceed the configured limit of {_NUMBER} tokens",  # OpenAI's input limit
        rf"exceeds the available context size(?: \({_NUMBER} tokens\))?",  # llama.cpp
        rf"too large for model with {_NUMBER} maximum context length",  # Mistral
        rf"prompt is too long: [\d,]+ tokens > {_NUMBER}",  # Anthropic
        rf"exceed context limit: [\d,]+ \+ [\d,]+ > {_NUMBER}",  # Anthropic
        rf"maximum number of tokens allowed \({_NUMBER}\)",  # Gemini
        rf"context length of only {_NUMBER} tokens",  # LM Studio
        rf"`inputs` tokens \+ `max_new_tokens` must be <= {_NUMBER}",  # TGI
        r"exceed(?:s|ed) (?:the |max )?context length",  # Ollama
        # A limit per minute that one prompt is above: Groq, OpenAI. Bounded, for what people write is searched as well.
        rf"request too large for .{{1,500}}?\blimit:? {_NUMBER}",
    )
]
# Of the prompt alone: a number of tokens "requested" may have the reply in it.
_PROMPT_WORDINGS = [
    re.compile(wording, re.IGNORECASE)
    for wording in (
        rf"\({_NUMBER} (?:in the messages|in your prompt|of text input)",  # OpenAI, vLLM, OpenRouter
        rf"your messages resulted in {_NUMBER}",  # OpenAI
        rf"your request has {_NUMBER} input tokens",  # vLLM
        rf"prompt \(length {_NUMBER}\)",  # vLLM
        rf"request \({_NUMBER} tokens\)",  # llama.cpp
        rf"keep the first {_NUMBER} tokens",  # LM Studio
        rf"prompt is too long: {_NUMBER} tokens",  # Anthropic
        rf"exceed context limit: {_NUMBER} \+",  # Anthropic
        rf"input token count \({_NUMBER}\)",  # Gemini
        rf"prompt contains {_NUMBER} tokens",  # Mistral
        rf"the request contains {_NUMBER} tokens",  # xAI
        rf"given: {_NUMBER} `inputs` tokens",  # TGI
    )
]
_LIMIT_FIELDS = ("n_ctx", "context_window")
_PROMPT_FIELDS = ("n_prompt_tokens",)


class StatedLengths(NamedTuple):
    """Tokens, as far as the provider names them."""

    limit_tokens: int | None
    prompt_tokens: int | None


def says_context_too_long(message: str) -> bool:
    """Tell whether *message* says that the context is too long."""
    return any(wording.search(message) for wording in _LIMIT_WORDINGS)


def stated_lengths(message: str, body: object) -> StatedLengths:
    """Return the lengths that the *message* or the error object *body* states."""
    fields = body if isinstance(body, Mapping) else {}
    return StatedLengths(
        _field(fields, _LIMIT_FIELDS) or _number_worded(message, _LIMIT_WORDINGS),
        _field(fields, _PROMPT_FIELDS) or _number_worded(message, _PROMPT_WORDINGS),
    )


def _field(body: Mapping[str, Any], names: Iterable[str]) -> int | None:
    return next((body[name] for name in names if type(body.get(name)) is int), None)


def _number_worded(message: str, wordings: Iterable[re.Pattern[str]]) -> int | None:
    """Return the number of the first wording that *message* has."""
    match = next((match for wording in wordings if (match := wording.search(message))), None)
    stated = match.groupdict().get("tokens") if match else None
    return int(stated.replace(",", "")) if stated and len(stated) <= LONGEST_NUMBER else None
