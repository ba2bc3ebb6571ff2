"""A request in the wrong dialect: the provider's refusal says what an admin has to correct."""

import pytest

from conversations.core import errors
from conversations.providers.catalog.known_dialects import DIALECT_WORDS
from conversations.providers.openai_api.provider_errors import Refusal, refusal_error


@pytest.mark.parametrize(
    ("status", "message", "word"),
    [
        # OpenAI from GPT-5.4 on
        (400, "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions.", "wire"),
        (
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'.",
            "output_limit_field",
        ),
        (400, "Unknown parameter: 'prompt_cache_options'.", "cache_breakpoints"),
        (400, "Unknown parameter: 'prompt_cache_key'.", "cache_key"),
        (400, "Unrecognized request argument supplied: reasoning_effort", "effort_field"),
        # Gemini
        (400, "Function call is missing a thought_signature in functionCall parts.", "sent_back"),
        # DeepSeek, Kimi
        (400, "Missing reasoning_content in the assistant message that has tool calls", "sent_back"),
        (400, "The reasoning_content in the thinking mode must be passed back to the API.", "sent_back"),
        # servers without the Responses API, or without its reasoning
        (404, "Invalid URL (POST /v1/responses)", "wire"),
        (400, "Unknown parameter: 'input'.", "wire"),
        (400, "The encrypted content could not be verified.", "wire"),
        (400, "Unrecognized request argument supplied: stream_options", "stream_options"),
        (400, "messages.0.content.0.cache_control: Extra inputs are not permitted", "cache_breakpoints"),
        # Mistral, vLLM, Azure, as the client's package writes the body
        (
            422,
            "Error code: 422 - {'object': 'error', 'message': {'detail': [{'type': 'extra_forbidden', 'loc': ['body', "
            "'max_completion_tokens'], 'msg': 'Extra inputs are not permitted', 'input': 32000}]}}",
            "output_limit_field",
        ),
        (
            400,
            "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted', "
            "'input': {'include_usage': True}}]",
            "stream_options",
        ),
        (400, "Validation error at #/max_completion_tokens: Extra inputs are not permitted", "output_limit_field"),
        (
            400,
            "body.messages.2.assistant.reasoning_details: Extra inputs are not permitted",
            "sent_back",
        ),
        # LiteLLM
        (
            400,
            "litellm.UnsupportedParamsError: openai does not support parameters: ['reasoning_effort'], for model=m.",
            "effort_field",
        ),
    ],
)
def test_a_wrong_dialect_is_known_by_its_wording_and_names_the_word_that_corrects_it(status, message, word):
    error = refusal_error(Refusal(message, status_code=status))
    assert (type(error), error.params, error.retryable) == (errors.DialectRejected, {"word": word}, False)
    assert word in DIALECT_WORDS


@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (401, "Unknown parameter: 'store'", errors.CredentialsRejected),
        (400, "Unknown parameter: 'temprature'", errors.ProviderRejected),
        (422, "[{'loc': ['body', 'tools'], 'msg': 'Extra inputs are not permitted'}]", errors.ProviderRejected),
        (400, "registry.ollama.ai/library/gemma3:4b does not support tools", errors.ToolsNotSupported),
        (404, "The model `gpt-9` does not exist", errors.LanguageModelNotFound),
    ],
)
def test_other_refusals_are_not_about_the_dialect(status, message, error):
    assert type(refusal_error(Refusal(message, status_code=status))) is error


def test_the_sentence_says_what_to_correct():
    sentence = str(errors.DialectRejected(word="cache_key"))
    assert "correct how this language model is set up, by its option “cache_key”." in sentence
