import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.core import errors
from conversations.providers.openai_api.provider_errors import (
    Refusal,
    leave_out_words,
    redact,
    refusal_error,
    retry_after_seconds,
)

NOW = dt.datetime(2026, 11, 21, 12, 0, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("status", "error", "retryable"),
    [
        (400, errors.ProviderRejected, False),
        (401, errors.CredentialsRejected, False),
        (402, errors.QuotaExhausted, False),
        (403, errors.CredentialsRejected, False),
        (404, errors.LanguageModelNotFound, False),
        (408, errors.ProviderTimedOut, True),
        (409, errors.ProviderUnavailable, True),
        (413, errors.ContextTooLong, False),
        (418, errors.ProviderRejected, False),
        (422, errors.ProviderRejected, False),
        (429, errors.RateLimited, True),
        (500, errors.ProviderUnavailable, True),
        (502, errors.ProviderUnavailable, True),
        (503, errors.ProviderUnavailable, True),
        (504, errors.ProviderTimedOut, True),
        (529, errors.ProviderUnavailable, True),
    ],
)
def test_the_status_decides(status, error, retryable):
    mapped = refusal_error(Refusal("no", status_code=status))

    assert (type(mapped), mapped.retryable) == (error, retryable)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"code": "insufficient_quota"}, errors.QuotaExhausted),
        ({"type": "rate_limit_error"}, errors.RateLimited),
        ({"type": "overloaded_error"}, errors.ProviderUnavailable),
        ({"type": "server_error"}, errors.ProviderUnavailable),
        ({"code": "model_not_found", "type": "invalid_request_error"}, errors.ProviderRejected),
        ({"code": 429, "message": "x"}, errors.RateLimited),
        ({"code": "502"}, errors.ProviderUnavailable),
        ({"type": "BadRequestError", "code": 400}, errors.ProviderRejected),
        ("just text", errors.ProviderUnavailable),
        (None, errors.ProviderUnavailable),
    ],
)
def test_inside_a_stream_the_words_decide(body, error):
    assert type(refusal_error(Refusal("no", body=body))) is error


def test_an_empty_purse_is_not_a_rate_limit():
    refusal = Refusal("You exceeded your current quota", status_code=429, body={"code": "insufficient_quota"})

    assert type(refusal_error(refusal)) is errors.QuotaExhausted


SAID = (
    "You exceeded your current quota, please check your plan and billing details. For more information on this error, "
)
LITELLM = "litellm.RateLimitError: RateLimitError: OpenAIException - "


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (
            f"{LITELLM}{SAID}read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.",
            errors.QuotaExhausted,
        ),
        (f"{LITELLM}Error code: 429 - {{'error': {{'type': 'insufficient_quota'}}}}", errors.QuotaExhausted),
        (f"{LITELLM}Rate limit reached for gpt-4o", errors.RateLimited),
        (f"{SAID}head to: https://ai.google.dev/gemini-api/docs/rate-limits. Please retry in 12s.", errors.RateLimited),
    ],
)
def test_an_empty_purse_in_words_is_told_from_a_limit_per_minute(message, error):
    body = {"type": "throttling_error", "code": "429"}
    assert type(refusal_error(Refusal(message, status_code=429, body=body))) is error


@pytest.mark.parametrize(
    ("message", "limit_tokens"),
    [
        # OpenAI
        ("This model's maximum context length is 4097 tokens. However, you requested 5000 tokens", 4_097),
        ("Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 280,000", 272_000),
        ("Request too large for gpt-4o in organization org on tokens per min (TPM): Limit 30000, Requested 4", 30_000),
        # vLLM
        ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 4_096),
        ("'max_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request", 4_096),
        # OpenRouter
        ("This endpoint's maximum context length is 8192 tokens. However, you requested about 9999 tokens", 8_192),
        # llama.cpp
        ("request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", 4_096),
        ("the request exceeds the available context size. try increasing the context size", None),
        # Ollama
        ("the input length exceeds the context length", None),
        ("prompt too long; exceeded max context length by 123 tokens", None),
        # LM Studio
        ("However, the model is loaded with context length of only 4096 tokens, which is not enough", 4_096),
        # Anthropic
        ("prompt is too long: 208310 tokens > 200000 maximum", 200_000),
        ("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease it", 200_000),
        # Gemini
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576),
        # Mistral
        ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32_768),
        # xAI
        ("This model's maximum prompt length is 131072 but the request contains 140000 tokens.", 131_072),
        # TGI
        ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens", 4_096),
    ],
)
@pytest.mark.parametrize("status", [400, 500, None])
def test_a_context_that_is_too_long_is_known_by_its_wording(message, limit_tokens, status):
    error = refusal_error(Refusal(message, status_code=status))

    assert (type(error), error.limit_tokens) == (errors.ContextTooLong, limit_tokens)


def test_a_context_that_is_too_long_is_known_by_its_code():
    body = {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 5000, "n_ctx": 4096}
    error = refusal_error(Refusal("too long", status_code=400, body=body))

    assert (type(error), error.limit_tokens, error.prompt_tokens) == (errors.ContextTooLong, 4_096, 5_000)


@pytest.mark.parametrize(
    "message",
    [
        # OpenAI
        "maximum context length is 4097 tokens. However, you requested 5120 tokens (5000 in the messages, 120 in the",
        "Input tokens exceed the configured limit of 4096 tokens. Your messages resulted in 5,000 tokens.",
        # vLLM
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        "This model's maximum context length is 4096 tokens and your request has 5000 input tokens",
        # OpenRouter
        "maximum context length is 4096 tokens. However, you requested about 5120 tokens (5000 of text input, 120 in",
        # llama.cpp
        "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
        # LM Studio
        "Trying to keep the first 5000 tokens when context overflows. However, the model is loaded with context length "
        "of only 4096 tokens, which is not enough",
        # Anthropic
        "prompt is too long: 5000 tokens > 4096 maximum",
        "input length and `max_tokens` exceed context limit: 5000 + 120 > 4096, decrease it",
        # Gemini
        "The input token count (5000) exceeds the maximum number of tokens allowed (4096).",
        # Mistral
        "Prompt contains 5000 tokens and 0 draft tokens, too large for model with 4096 maximum context length",
        # xAI
        "This model's maximum prompt length is 4096 but the request contains 5000 tokens.",
        # TGI
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 120 `max_new_tokens`",
    ],
)
def test_the_count_of_the_prompt_is_read(message):
    assert refusal_error(Refusal(message, status_code=400)).prompt_tokens == 5_000


@pytest.mark.parametrize(
    "message",
    [
        "maximum context length is 4097 tokens. However, you requested 5120 tokens",
        "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 6900",
        "prompt too long; exceeded max context length by 123 tokens",
    ],
)
def test_a_count_that_may_have_the_reply_in_it_is_not_the_prompts(message):
    assert refusal_error(Refusal(message, status_code=400)).prompt_tokens is None


def test_a_number_without_end_is_no_number_of_tokens():
    error = refusal_error(Refusal(f"maximum context length is {'9' * 3_000} tokens", status_code=400))

    assert (type(error), error.limit_tokens) == (errors.ContextTooLong, None)


@pytest.mark.parametrize("message", ["maximum number of images is 5", "temperature exceeds the maximum", "too large"])
def test_other_refusals_are_not_about_the_context(message):
    assert type(refusal_error(Refusal(message, status_code=400))) is errors.ProviderRejected


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-5"}, 0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Sat, 21 Nov 2026 12:00:30 GMT"}, 30),
        ({"retry-after": "Sat, 21 Nov 2026 11:00:00 GMT"}, 0),
        ({"retry-after": "Sat, 21 Nov 2026 12:00:30 -0000"}, 30),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Fri, 31 Dec 2026 99999999999999999999:10:10 GMT"}, None),
        ({"retry-after": "Fri, 31 Dec 99999 23:59:59 GMT"}, None),
    ],
)
def test_the_time_to_wait_is_read(headers, seconds):
    assert retry_after_seconds(headers, now=NOW) == seconds


@pytest.mark.parametrize(
    "leak",
    [
        "Incorrect API key provided: sk-proj-abc***xyz. You can find",
        "headers: {'Authorization': 'Bearer abcxyz.secret'}",
        "Authorization: Basic abcxyz=",
        'api_key="abcxyz"',
        "api-key: abcxyz",
        "GET https://host/v1?key=abcxyz&alt=sse",
    ],
)
def test_no_key_gets_into_the_detail(leak):
    detail = refusal_error(Refusal(leak, status_code=401)).detail

    assert "abc" not in detail
    assert "xyz" not in detail


@given(
    sent=st.text("ab", min_size=24, max_size=80),
    around=st.tuples(st.text("abc", max_size=30), st.text("abc", max_size=30)),
    data=st.data(),
)
def test_of_what_was_sent_24_characters_are_never_repeated(sent, around, data):
    start = data.draw(st.integers(0, len(sent) - 24))
    end = data.draw(st.integers(start + 24, len(sent)))
    detail = around[0] + sent[start:end] + around[1]
    left = leave_out_words(detail, ["", "short", sent])
    assert not any(sent[at : at + 24] in left for at in range(len(sent) - 23))
    assert "…" in left


def test_an_error_in_its_own_words_is_kept_as_it_is():
    detail = "400 context_length_exceeded: This model's maximum context length is 4096 tokens."
    assert leave_out_words(detail, ["How long is the context of this model?", "tokens " * 100_000]) == detail


def test_a_detail_is_short_and_says_what_happened():
    error = refusal_error(Refusal("x" * 10_000, status_code=400, body={"code": "odd"}, request_id="req_1"))

    assert error.detail.startswith("400 odd: xxx")
    assert len(error.detail) == 500
    assert error.request_id == "req_1"


def test_redacting_leaves_the_rest():
    assert redact("the task-force failed: disk-full") == "the task-force failed: disk-full"
