"""A request in the wrong dialect: the provider's refusal says what an admin has to correct."""

import pytest

from conversations.core import errors
from conversations.providers.wire.provider_errors import Refusal, refusal_error


@pytest.mark.parametrize(
    ("status", "message"),
    [
        # OpenAI from GPT-5.4 on
        (400, "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions."),
        (400, "Unsupported parameter: 'max_tokens' is not supported with this model."),
        (400, "Unknown parameter: 'prompt_cache_options'."),
        # Gemini
        (400, "Function call is missing a thought_signature in functionCall parts."),
        # DeepSeek, Kimi
        (400, "Missing reasoning_content in the assistant message that has tool calls"),
        (400, "The reasoning_content in the thinking mode must be passed back to the API."),
        # servers without the Responses API, or without its reasoning
        (404, "Invalid URL (POST /v1/responses)"),
        (400, "The encrypted content could not be verified."),
        (400, "Unrecognized request argument supplied: stream_options"),
        (400, "messages.0.content.0.cache_control: Extra inputs are not permitted"),
    ],
)
def test_a_wrong_dialect_is_known_by_its_wording(status, message):
    error = refusal_error(Refusal(message, status_code=status))
    assert (type(error), error.retryable) == (errors.DialectRejected, False)


@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (401, "Unknown parameter: 'store'", errors.CredentialsRejected),
        (400, "Unknown parameter: 'temprature'", errors.ProviderRejected),
        (400, "registry.ollama.ai/library/gemma3:4b does not support tools", errors.ToolsNotSupported),
        (404, "The model `gpt-9` does not exist", errors.LanguageModelNotFound),
    ],
)
def test_other_refusals_are_not_about_the_dialect(status, message, error):
    assert type(refusal_error(Refusal(message, status_code=status))) is error


def test_the_sentence_says_what_to_correct():
    assert "correct how this language model is set up" in str(errors.DialectRejected())
