"""Errors of providers, sorted into our own tree of errors by status, code and wording. Knows no client package.

The wordings of refused tools are those of Ollama, OpenAI, Azure, OpenRouter, vLLM, llama.cpp, DeepSeek, DeepInfra,
SiliconFlow and Alibaba, from their users' public reports, checked 2026-11-21; each stands in a test.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from conversations.core.errors import (
    CompletionError,
    ContextTooLong,
    CredentialsRejected,
    DialectRejected,
    LanguageModelNotFound,
    ProviderRejected,
    ProviderTimedOut,
    ProviderUnavailable,
    QuotaExhausted,
    RateLimited,
    ToolsNotSupported,
)

from .context_length import CONTEXT_CODES, says_context_too_long, stated_lengths

DETAIL_CHARACTERS = 500
REPEATED_CHARACTERS = 24  # of a text that was sent; shorter parts are words such as any error has
PIECE_CHARACTERS = 8
READ_CHARACTERS = 4_000  # of a provider's message; what it says stands at its beginning

_BY_STATUS: dict[int, type[CompletionError]] = {
    401: CredentialsRejected,
    402: QuotaExhausted,
    403: CredentialsRejected,
    404: LanguageModelNotFound,
    408: ProviderTimedOut,
    409: ProviderUnavailable,
    425: ProviderUnavailable,
    429: RateLimited,
    504: ProviderTimedOut,
    524: ProviderTimedOut,
}

# Codes and types inside the error object, which is all that an error in the middle of a stream has.
_BY_CODE: dict[str, type[CompletionError]] = {
    "insufficient_quota": QuotaExhausted,
    "billing_hard_limit_reached": QuotaExhausted,
    "billing_error": QuotaExhausted,
    "invalid_api_key": CredentialsRejected,
    "authentication_error": CredentialsRejected,
    "permission_error": CredentialsRejected,
    "model_not_found": LanguageModelNotFound,
    "rate_limit_exceeded": RateLimited,
    "rate_limit_error": RateLimited,
    "timeout_error": ProviderTimedOut,
    "invalid_request_error": ProviderRejected,
    "badrequesterror": ProviderRejected,
    "content_filter": ProviderRejected,
}

_SECRETS = re.compile(
    r"\bsk-[\w*.…-]+|\bBearer\s+[^\s'\",]+|(?<=[?&]key=)[^&\s]+"
    r"|(?<=api[-_]key)(?P<gap>['\"]?\s*[:=]\s*['\"]?)[^\s'\",]+"
    r"|(?<=Authorization)['\"]?\s*[:=]\s*['\"]?[^'\",]+",
    re.IGNORECASE,
)

# Of OpenAI's account, as LiteLLM passes it on without the code. Gemini's limits per minute begin with the same sentence
# and name another page. Checked 2026-11-23.
_QUOTA_WORDING = re.compile(
    r"\binsufficient_quota\b|exceeded your current quota.{1,200}\bplatform\.openai\.com/", re.IGNORECASE | re.DOTALL
)

_TOOLS = r"(?:tools?|tool[ _]use|tool[ _-]?call(?:s|ing)?|functions?|function[ _-]?call(?:s|ing)?)"
_TOOLS_WORDINGS = [
    re.compile(wording, re.IGNORECASE)
    for wording in (
        rf"does(?: not|n't) support (?:the )?{_TOOLS}\b",  # Ollama, DeepSeek
        rf"\b{_TOOLS} (?:is|are) not (?:supported|enabled)\b",  # OpenAI, Azure, DeepInfra, SiliconFlow, Alibaba
        r"no endpoints found that support (?:tool use|the provided 'tool_choice')",  # OpenRouter
        r"tool choice requires --enable-auto-tool-choice",  # vLLM
        r"tools param requires --jinja|unsupported param: tools\b",  # llama.cpp
    )
]
# A field too many, or one that is missing: GPT-5.4 and later, Gemini, DeepSeek and Kimi, the Responses API where there
# is none, OpenAI's own fields elsewhere. From their users' public reports, checked 2026-11-25. The name of the group
# that is found is the `DialectWord` that corrects it.
_FIELDS = (
    r"\b(?:(?P<output_limit_field>max_tokens|max_completion_tokens|max_output_tokens)|(?P<cache_key>prompt_cache_key)"
    r"|(?P<cache_breakpoints>prompt_cache_\w+|cache_control)|(?P<stream_options>stream_options)"
    r"|(?P<sent_back>reasoning_content|reasoning_details|thinking_blocks|extra_content|provider_specific_fields)"
    r"|(?P<effort_field>reasoning\w*)|(?P<wire>store|include|input))\b"
)
_DIALECT_WORDINGS = [
    re.compile(wording, re.IGNORECASE)
    for wording in (
        r"(?P<wire>tools with reasoning_effort are not supported|please use /v1/responses)",
        r"(?P<sent_back>missing (?:a )?thought_signature)",
        r"(?P<sent_back>reasoning_content\b.{0,80}\b(?:must|missing|required)|missing.{0,40}\breasoning_content)",
        r"(?:unsupported|unknown|unrecognized)(?: request)? (?:parameter|argument)s?\b.{0,40}?" + _FIELDS,
        r"does not support parameters?\b.{0,40}?" + _FIELDS,  # LiteLLM
        _FIELDS + r".{0,40}\bextra inputs are not permitted",  # Mistral, vLLM, Azure
        r"(?P<wire>invalid url \(post [\w/]*/responses\)|encrypted.content.{0,60}\b(?:not supported|could not be))",
        r"(?P<cache_breakpoints>\bcache_control\b.{0,60}\b(?:not permitted|not supported|extra inputs))",
    )
]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error as the provider words it. *body* is its error object, *status_code* None inside a stream."""

    message: str
    status_code: int | None = None
    body: object = None
    retry_after_seconds: float | None = None
    request_id: str = ""


def refusal_error(refusal: Refusal) -> CompletionError:
    """Return the error of our tree for *refusal*, without keys in its detail."""
    status = refusal.status_code or _status_inside(refusal.body)
    codes = _codes(refusal.body)
    detail = redact(f"{status or 'stream'} {'/'.join(sorted(codes))}: {refusal.message}")
    if _is_context_too_long(refusal, codes):
        stated = stated_lengths(refusal.message[:READ_CHARACTERS], refusal.body)
        return ContextTooLong(**stated._asdict(), detail=detail, request_id=refusal.request_id)
    if found := _find_wording(refusal, status, _DIALECT_WORDINGS):
        return DialectRejected(word=found.lastgroup, detail=detail, request_id=refusal.request_id)
    is_of_tools = _find_wording(refusal, status, _TOOLS_WORDINGS)
    error = ToolsNotSupported if is_of_tools else _error_class(status, codes)
    if error is RateLimited and _QUOTA_WORDING.search(refusal.message[:READ_CHARACTERS]):
        error = QuotaExhausted
    return error(detail=detail, retry_after_seconds=refusal.retry_after_seconds, request_id=refusal.request_id)


def retry_after_seconds(headers: Mapping[str, str], *, now: dt.datetime) -> float | None:
    """Return how long the provider asks us to wait: in milliseconds, in seconds or until an HTTP date."""
    if milliseconds := _number(headers.get("retry-after-ms")):
        return milliseconds / 1000
    stated = headers.get("retry-after")
    if (seconds := _number(stated)) is not None:
        return max(seconds, 0.0)
    try:
        until = parsedate_to_datetime(stated or "")
        if until.tzinfo is None:
            until = until.replace(tzinfo=dt.UTC)
        return max((until - now).total_seconds(), 0.0)
    except (ValueError, OverflowError):  # no date, or one that no calendar has
        return None


def redact(text: str) -> str:
    """Return *text* short and without anything that looks like a key."""
    return _SECRETS.sub("…", text[:READ_CHARACTERS])[:DETAIL_CHARACTERS]


def leave_out_words(detail: str, sent: Iterable[str]) -> str:
    """Return *detail* with an ellipsis for each part of 24 characters or more that repeats one of the texts *sent*.

    Providers quote what they refuse, and details are written to logs, which hold no words of conversations.
    """
    texts = [text for text in sent if len(text) >= REPEATED_CHARACTERS]

    def repeats(start: int, end: int) -> bool:
        return any(detail[start:end] in text for text in texts)

    kept, kept_to = [], 0
    # Such a part holds a whole piece of those that begin at each eighth character: few are looked for in long texts.
    for start in range(0, len(detail) - PIECE_CHARACTERS + 1, PIECE_CHARACTERS):
        end = start + PIECE_CHARACTERS
        if start < kept_to or not repeats(start, end):
            continue
        while end < len(detail) and repeats(start, end + 1):
            end += 1
        while start > kept_to and repeats(start - 1, end):
            start -= 1
        if end - start >= REPEATED_CHARACTERS - PIECE_CHARACTERS:
            kept.append(detail[kept_to:start])
            kept_to = end
    return "…".join([*kept, detail[kept_to:]])


def _error_class(status: int | None, codes: set[str]) -> type[CompletionError]:
    # The quota has to be looked for first: it comes with the status of a rate limit, which is worth a retry.
    by_code = [_BY_CODE[code] for code in sorted(codes) if code in _BY_CODE]
    if QuotaExhausted in by_code:
        return QuotaExhausted
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status is not None:
        return ProviderUnavailable if status >= 500 else ProviderRejected
    return by_code[0] if by_code else ProviderUnavailable


def _is_context_too_long(refusal: Refusal, codes: set[str]) -> bool:
    if refusal.status_code in (401, 402, 403, 404):
        return False
    if refusal.status_code == 413 or codes & CONTEXT_CODES:
        return True
    return says_context_too_long(refusal.message[:READ_CHARACTERS])


def _find_wording(refusal: Refusal, status: int | None, wordings: Iterable[re.Pattern[str]]) -> re.Match[str] | None:
    """Return the first of *wordings* in a refusal, None where that is not about what the request is made of."""
    if status in (401, 402, 403, 429):
        return None
    message = refusal.message[:READ_CHARACTERS]
    return next((found for wording in wordings if (found := wording.search(message))), None)


def _codes(body: object) -> set[str]:
    if not isinstance(body, Mapping):
        return set()
    return {str(body[field]).lower() for field in ("code", "type") if body.get(field)}


def _status_inside(body: object) -> int | None:
    """Return the HTTP status that an error object carries as its code, as OpenRouter's and vLLM's do."""
    code: Any = body.get("code") if isinstance(body, Mapping) else None
    status = _number(str(code)) if code is not None else None
    return int(status) if status is not None and 400 <= status <= 599 else None


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None
