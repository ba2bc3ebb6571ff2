"""Language models of the fake provider that answer as one server does, made after its documents and its users' reports.

`serves-NAME` thinks, calls the first tool of the request, then thinks and answers `It is done.`; NAME is one of
`SERVERS`. It refuses by 400 or 422 what that server does not take: a field of the request, or reasoning in a message,
since none of them demands it back. All were looked at on 2026-11-25.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.tool_dialogues import wrong_with

THOUGHTS = ("I need ", "the tool.")
ANSWER = ("It is", " done.")
OUTPUT_TOKENS, REASONING_TOKENS = 40, 25
REASONING = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "items")


@dataclass(frozen=True, slots=True)
class Server:
    """How a server tells a completion: *thought* is how a piece of reasoning comes, *call_id* the form of its ids.

    *calls_whole* is whether a call comes in one chunk. *usage* is what stands beside the numbers of tokens, which come
    *unasked* or when they are asked for, *beside_usage* what stands in the same chunk. *refused* are fields of the
    request that it does not take.
    """

    thought: str
    call_id: str
    source: str
    calls_whole: bool = True
    unasked: bool = False
    usage: Mapping[str, Any] = field(default_factory=dict)
    beside_usage: Mapping[str, Any] = field(default_factory=dict)
    refused: tuple[str, ...] = ()


SERVERS = {
    "vllm": Server(
        "reasoning",
        "chatcmpl-tool-0a1b",
        "https://docs.vllm.ai/en/latest/features/reasoning_outputs.html",
        calls_whole=False,
        usage={"prompt_tokens_details": {"cached_tokens": 16}},  # with --enable-prompt-tokens-details
    ),
    "vllm-before-0.11.2": Server(
        "reasoning_content",
        "chatcmpl-tool-0a1b",
        "https://docs.vllm.ai/en/v0.11.0/features/reasoning_outputs.html",
        calls_whole=False,
        usage={"prompt_tokens_details": None},
    ),
    "llama.cpp": Server(
        "reasoning_content",
        "Vx0lBcXWqBMtBHjWnYnoXvZVHHRxfZAD",
        "https://github.com/ggml-org/llama.cpp/pull/15827 https://github.com/ggml-org/llama.cpp/issues/16048",
        calls_whole=False,
        unasked=True,
        beside_usage={"timings": {"cache_n": 24, "prompt_n": 6, "predicted_n": OUTPUT_TOKENS}},
    ),
    "ollama": Server("reasoning", "call_8kq1x2ab", "https://docs.ollama.com/api/openai-compatibility"),
    "ollama-tags": Server("tags", "call_8kq1x2ab", "https://github.com/ollama/ollama/issues/8517"),
    "lm-studio": Server(
        "reasoning_content",
        "365174485",
        "https://lmstudio.ai/docs/developer/openai-compat/tools",
        calls_whole=False,
        usage={"completion_tokens_details": {"reasoning_tokens": REASONING_TOKENS}},
    ),
    "mistral": Server(
        "parts",
        "D681PevKs",
        "https://docs.mistral.ai/capabilities/reasoning https://github.com/BerriAI/litellm/issues/16272",
        unasked=True,
        refused=("stream_options", "max_completion_tokens", "prompt_cache_key"),
    ),
    "anthropic": Server(
        "none",
        "toolu_01A09q90qw90lq917835lq9",
        "https://docs.claude.com/en/api/openai-sdk",
        calls_whole=False,
        usage={"cached_tokens": 8},
    ),
}


async def answer_as_server(answer: Any) -> None:
    """Answer the request as its server does."""
    body, server = answer.exchange.body, SERVERS[answer.exchange.model.removeprefix("serves-")]
    if extra := [name for name in server.refused if name in body]:
        told = {"type": "extra_forbidden", "loc": ["body", extra[0]], "msg": "Extra inputs are not permitted"}
        await answer.whole(422, "application/json", json.dumps({"object": "error", "message": {"detail": [told]}}))
        return
    if wrong := wrong_with(body) or _with_reasoning(body):
        error = {"error": {"message": wrong, "type": "invalid_request_error", "param": None, "code": None}}
        await answer.whole(400, "application/json", json.dumps(error))
        return
    await answer.head()
    await answer.chunk({"role": "assistant", "content": ""})
    for delta in _thoughts(server.thought):
        await answer.chunk(delta)
    calls = body["messages"][-1]["role"] == "user"
    if calls:
        for call in _call(server, body["tools"][0]["function"]["name"]):
            await answer.chunk({"tool_calls": [call]})
    else:
        await answer.texts(list(ANSWER))
    await answer.chunk({}, finish="tool_calls" if calls else "stop")
    if server.unasked or body.get("stream_options", {}).get("include_usage"):
        prompt_tokens = 30
        numbers = {"prompt_tokens": prompt_tokens, "completion_tokens": OUTPUT_TOKENS}
        usage = {**numbers, "total_tokens": prompt_tokens + OUTPUT_TOKENS, **server.usage}
        await answer.chunk(None, usage=usage, **server.beside_usage)
    await answer.line("data: [DONE]")
    await answer.close()


def _with_reasoning(body: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a request whose messages have reasoning: none of these servers asks it back."""
    named = [name for message in body["messages"] for name in REASONING if name in message]
    return f"Unknown parameter: {named}" if named else None


def _thoughts(form: str) -> Iterator[dict[str, Any]]:
    if form == "none":
        return
    for place, piece in enumerate(THOUGHTS):
        if form == "tags":
            is_last = place == len(THOUGHTS) - 1
            yield {"content": ("" if place else "<think>") + piece + ("</think>" if is_last else "")}
        elif form == "parts":
            yield {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": piece}]}]}
        else:
            yield {form: piece}


def _call(server: Server, name: str) -> Iterator[dict[str, Any]]:
    begun = {"index": 0, "id": server.call_id, "type": "function", "function": {"name": name, "arguments": ""}}
    if server.calls_whole:
        yield {**begun, "function": {"name": name, "arguments": "{}"}}
        return
    yield begun
    for piece in ("{", "}"):
        yield {"index": 0, "function": {"arguments": piece}}
