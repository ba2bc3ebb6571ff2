from dataclasses import replace

import pytest

from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.core.prompt.prompt_format import PromptFormat
from conversations.providers.catalog.known_dialects import known_dialect
from conversations.providers.openai_api.completion_request import CompletionRequest
from conversations.providers.openai_api.dialect import Dialect

REQUEST = CompletionRequest(
    "m", (PromptMessage("user", "hi"),), max_output_tokens=7, sampling={"temperature": 0.5}, cache_key="k"
)
MESSAGES = [{"role": "user", "content": "hi"}]
USAGE = {"include_usage": True}


OPENAI = known_dialect("gpt-4o", base_url="https://api.openai.com/v1")
MISTRAL = known_dialect("mistral-small", base_url="https://api.mistral.ai/v1")
RESPONSES = Dialect(PromptFormat("responses"), output_limit_field="max_output_tokens", takes_cache_key=True)
TOOL = {"type": "function", "function": {"name": "f", "description": "F.", "parameters": {"type": "object"}}}


def test_openai_is_asked_in_its_newer_words():
    assert replace(REQUEST, dialect=OPENAI).to_json() == {
        "model": "m",
        "messages": MESSAGES,
        "stream": True,
        "stream_options": USAGE,
        "max_completion_tokens": 7,
        "prompt_cache_key": "k",
        "temperature": 0.5,
    }


def test_an_unknown_server_is_asked_in_words_that_all_know():
    body = REQUEST.to_json()

    assert body == {
        "model": "m", "messages": MESSAGES, "stream": True, "stream_options": USAGE, "max_tokens": 7, "temperature": 0.5
    }  # fmt: skip


def test_mistral_is_not_asked_for_usage():
    assert "stream_options" not in replace(REQUEST, dialect=MISTRAL).to_json()


def test_sampling_can_replace_nothing_that_matters():
    sampling = {"model": "dearer", "stream": False, "messages": [], "max_tokens": 10**9, "temperature": 1}
    request = CompletionRequest("m", REQUEST.prompt, max_output_tokens=7, sampling=sampling)
    body = request.to_json()

    assert (body["model"], body["stream"], body["messages"], body["max_tokens"]) == ("m", True, MESSAGES, 7)
    assert body["temperature"] == 1


def test_tools_are_sent_only_when_there_are_some():
    body = CompletionRequest("m", REQUEST.prompt, tools=(TOOL,)).to_json()

    assert body["tools"] == [TOOL]
    assert "tools" not in REQUEST.to_json()


def test_the_responses_api_is_asked_to_keep_nothing():
    request = replace(REQUEST, dialect=RESPONSES, tools=(TOOL,), may_call=False)
    request = replace(request, sampling={"temperature": 0.5, "reasoning_effort": "low", "stop": ["x"], "seed": 1})

    assert request.path == "/responses"
    assert request.to_json() == {
        "model": "m",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        "max_output_tokens": 7,
        "tools": [
            {"type": "function", "strict": False, "name": "f", "description": "F.", "parameters": {"type": "object"}}
        ],
        "tool_choice": "none",
        "prompt_cache_key": "k",
        "temperature": 0.5,
        "reasoning": {"summary": "auto", "effort": "low"},
    }


@pytest.mark.parametrize("nonsense", ["high", ["x"], 5, None])
def test_sampling_that_is_no_object_where_one_belongs_is_left_out_on_the_responses_api(nonsense):
    sampling = {"reasoning": nonsense, "text": nonsense, "verbosity": "low"}
    body = replace(REQUEST, dialect=RESPONSES, sampling=sampling).to_json()

    assert (body["reasoning"], body["text"]) == ({"summary": "auto"}, {"verbosity": "low"})


def test_calls_and_results_are_items_of_their_own_on_the_responses_api():
    call = PromptToolCall("call_1", "f", "{}")
    prompt = (
        PromptMessage("system", "Be kind."),
        PromptMessage("user", "hi"),
        PromptMessage("assistant", "", tool_calls=(call,)),
        PromptMessage("tool", "4", tool_call_id="call_1"),
        PromptMessage("assistant", "It is 4."),
    )
    body = replace(REQUEST, prompt=prompt, dialect=RESPONSES).to_json()

    assert body["input"] == [
        {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "Be kind."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "4"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is 4."}]},
    ]


def test_explicit_breakpoints_are_asked_for_in_the_body_too():
    dialect = replace(RESPONSES, prompt_format=PromptFormat("responses", "openai"))
    assert replace(REQUEST, dialect=dialect).to_json()["prompt_cache_options"] == {"mode": "explicit"}
    assert "prompt_cache_options" not in replace(REQUEST, dialect=RESPONSES).to_json()


def test_an_effort_stands_in_the_words_of_its_server_in_place_of_the_samplings():
    asked = replace(REQUEST, effort="high", sampling={"reasoning_effort": "low", "reasoning": {"max_tokens": 9}})
    openrouter = known_dialect("anthropic/claude-sonnet-4.5", base_url="https://openrouter.ai/api/v1")

    assert replace(asked, dialect=OPENAI).to_json()["reasoning_effort"] == "high"
    body = replace(asked, dialect=openrouter).to_json()
    assert body["reasoning"] == {"effort": "high"}
    assert "reasoning_effort" not in body
    assert replace(asked, dialect=RESPONSES).to_json()["reasoning"] == {"summary": "auto", "effort": "high"}
    without = replace(asked, dialect=Dialect(effort="")).to_json()
    assert "reasoning_effort" not in without
    unsent = replace(REQUEST, effort="high", dialect=replace(RESPONSES, effort="")).to_json()
    assert unsent["reasoning"] == {"summary": "auto"}


def test_without_an_effort_the_samplings_own_stays():
    asked = replace(REQUEST, sampling={"reasoning_effort": "low"})

    assert asked.to_json()["reasoning_effort"] == "low"
