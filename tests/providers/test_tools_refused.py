import pytest

from conversations.core import errors
from conversations.providers.openai_api.provider_errors import Refusal, refusal_error


@pytest.mark.parametrize(
    ("status", "message"),
    [
        # Ollama
        (400, "registry.ollama.ai/library/gemma3:4b does not support tools"),
        # OpenAI, Azure
        (400, "tools is not supported in this model. For a list of supported models, refer to the documentation."),
        (400, "Functions are not supported for this API version or this model version."),
        # OpenRouter
        (404, "No endpoints found that support tool use. To learn more about provider routing, visit the site"),
        (404, "No endpoints found that support the provided 'tool_choice' value."),
        # vLLM
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        # llama.cpp
        (500, "tools param requires --jinja flag"),
        (500, "Unsupported param: tools"),
        # DeepSeek, DeepInfra, SiliconFlow, Alibaba
        (400, "deepseek-reasoner does not support Function Calling"),
        (405, "Tool calling is not supported for model: mistralai/Mistral-Small-24B-Instruct-2501"),
        (400, "Function call is not supported for this model."),
        (400, "<400> InternalError.Algo.InvalidParameter: The tool call is not supported."),
        (None, "llama3 does not support tools"),
    ],
)
def test_a_refusal_of_tools_is_known_by_its_wording(status, message):
    error = refusal_error(Refusal(message, status_code=status))

    assert (type(error), error.retryable) == (errors.ToolsNotSupported, False)


@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (401, "Your plan does not support tools", errors.CredentialsRejected),
        (429, "Functions are not supported at this rate", errors.RateLimited),
        (400, "tool call validation failed: parameters did not match schema", errors.ProviderRejected),
        (400, "An assistant message with 'tool_calls' must be followed by tool messages", errors.ProviderRejected),
        (500, "the toolbox is not supported", errors.ProviderUnavailable),
    ],
)
def test_other_refusals_are_none_of_tools(status, message, error):
    assert type(refusal_error(Refusal(message, status_code=status))) is error


def test_the_sentence_says_what_to_do():
    assert "Choose a scenario without tools" in str(errors.ToolsNotSupported())
