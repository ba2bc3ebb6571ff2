import pytest

from conversations.core.prompt.messages import PromptMessage
from conversations.providers.wire.completion_request import (
    MISTRAL,
    OPENAI,
    OPENAI_BASE_URL,
    CompletionRequest,
    Dialect,
    dialect_for,
)

REQUEST = CompletionRequest(
    "m", (PromptMessage("user", "hi"),), max_output_tokens=7, sampling={"temperature": 0.5}, cache_key="k"
)
MESSAGES = [{"role": "user", "content": "hi"}]
USAGE = {"include_usage": True}


@pytest.mark.parametrize(
    ("base_url", "dialect"),
    [
        (OPENAI_BASE_URL, OPENAI),
        ("https://house.openai.azure.com/openai/v1", OPENAI),
        ("https://api.mistral.ai/v1", MISTRAL),
        ("http://localhost:11434/v1", Dialect()),
        ("https://api.openai.com.evil.example/v1", Dialect()),
        ("https://notmistral.ai/v1", Dialect()),
        ("", Dialect()),
    ],
)
def test_the_host_decides_the_dialect(base_url, dialect):
    assert dialect_for(base_url) == dialect


def test_openai_is_asked_in_its_newer_words():
    assert REQUEST.to_wire(base_url=OPENAI_BASE_URL) == {
        "model": "m",
        "messages": MESSAGES,
        "stream": True,
        "stream_options": USAGE,
        "max_completion_tokens": 7,
        "prompt_cache_key": "k",
        "temperature": 0.5,
    }


def test_an_unknown_server_is_asked_in_words_that_all_know():
    body = REQUEST.to_wire(base_url="http://localhost:11434/v1")

    assert body == {
        "model": "m", "messages": MESSAGES, "stream": True, "stream_options": USAGE, "max_tokens": 7, "temperature": 0.5
    }  # fmt: skip


def test_mistral_is_not_asked_for_usage():
    assert "stream_options" not in REQUEST.to_wire(base_url="https://api.mistral.ai/v1")


def test_sampling_can_replace_nothing_that_matters():
    sampling = {"model": "dearer", "stream": False, "messages": [], "max_tokens": 10**9, "temperature": 1}
    request = CompletionRequest("m", REQUEST.prompt, max_output_tokens=7, sampling=sampling)
    body = request.to_wire(base_url="http://localhost/v1")

    assert (body["model"], body["stream"], body["messages"], body["max_tokens"]) == ("m", True, MESSAGES, 7)
    assert body["temperature"] == 1


def test_tools_are_sent_only_when_there_are_some():
    tool = {"type": "function", "function": {"name": "f"}}
    body = CompletionRequest("m", REQUEST.prompt, tools=(tool,)).to_wire(base_url="")

    assert body["tools"] == [tool]
    assert "tools" not in REQUEST.to_wire(base_url="")
