"""The demo model, used when no provider is configured: an HTTP transport inside the process, and no network.

It speaks OpenAI's format, so that everything between the page and the provider's client is the same as with a real
provider: streamed chunks, usage in the last one when asked for, errors as JSON, a context window that is kept to.
What it says comes from `answer`, which tools it calls from `choose_tools`, and what it thinks before, if the question
or the effort asks for it, from `think`.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

import httpx2
from django.utils.translation import gettext_noop

from conversations.core.money.unit_prices import UnitPrices
from conversations.core.prompt.messages import PromptMessage, PromptToolCall
from conversations.core.window.budget import LanguageModel
from conversations.core.window.picture_tokens import FixedTokens, ModelPictures, TileTokens
from conversations.providers.tokens.tokenizer import count_prompt, count_text

from .answer import answer
from .choose_tools import choose_tools
from .demo_prompt import DemoPrompt
from .sent_pictures import read_content
from .think import think

DEMO_BASE_URL = "http://demo.invalid/v1"
DEMO_LANGUAGE_MODELS = (
    LanguageModel("windowseat-demo", 4_096, 500, "o200k_base", label=gettext_noop("Demo (4k window)")),
    LanguageModel("windowseat-demo-32k", 32_768, 2_000, "o200k_base", label=gettext_noop("Demo (32k window)")),
)
# As gpt-4o counts them.
DEMO_PICTURES = ModelPictures(TileTokens(85, 170), FixedTokens(85), "high", most=20)
DEMO_PRICES = UnitPrices(Decimal(0), Decimal(0), Decimal(0), source="the demo model is free")

# Pace of a reply that was asked for slowly: there is time to look at it, or to do something in the middle of it.
SLOW_TOKENS_PER_SECOND = 20.0
_ASKS_SLOWLY = re.compile(r"\bslowly\b|慢慢", re.IGNORECASE)

# A word, a run of punctuation or one Chinese or Japanese character, with the blanks before it.
_PIECE = re.compile(r"\s*(?:[\u3040-\u9fff]|(?:(?![\u3040-\u9fff])\w)+|[^\w\s]+)|\s+$")


def demo_http_client(*, tokens_per_second: float) -> httpx2.AsyncClient:
    """Return a client whose every request the demo model answers; 0 tokens a second is as fast as it can."""
    return httpx2.AsyncClient(transport=DemoTransport(tokens_per_second))


@dataclass(frozen=True)
class DemoTransport(httpx2.AsyncBaseTransport):
    """Answers chat completions, streamed, in place of a network."""

    tokens_per_second: float

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(await request.aread())
        models = {model.name: model for model in DEMO_LANGUAGE_MODELS}
        if (language_model := models.get(body["model"])) is None:
            return _error(404, "model_not_found", f"The model `{body['model']}` does not exist.")
        try:
            prompt = tuple(map(_message, body["messages"]))
        except ValueError as error:
            return _error(400, "invalid_image_url", f"A picture could not be read: {error}.")
        count = partial(count_prompt, language_model=language_model, pictures=DEMO_PICTURES)
        tokens = await asyncio.to_thread(count, prompt, tools=body.get("tools", ()))
        reply_tokens = body.get("max_completion_tokens") or body.get("max_tokens") or 0
        if tokens + reply_tokens > language_model.context_window_tokens:
            return _context_too_long(language_model, tokens, reply_tokens)
        read = DemoPrompt(prompt, tokens, _functions(body))
        reply = _Reply(
            language_model=language_model,
            prompt=read,
            limit_tokens=reply_tokens or language_model.context_window_tokens - tokens,
            reports_usage=bool((body.get("stream_options") or {}).get("include_usage")),
            tokens_per_second=self._pace(read),
            effort=body.get("reasoning_effort") or "",
        )
        headers = {"content-type": "text/event-stream", "x-request-id": "demo"}
        return httpx2.Response(200, headers=headers, stream=_ByteStream(reply.lines()))

    def _pace(self, prompt: DemoPrompt) -> float:
        is_slow = _ASKS_SLOWLY.search(prompt.question) and not 0 < self.tokens_per_second < SLOW_TOKENS_PER_SECOND
        return SLOW_TOKENS_PER_SECOND if is_slow else self.tokens_per_second


class _ByteStream(httpx2.AsyncByteStream):
    """A body that ends early when it is closed; iterating again goes on where it was."""

    def __init__(self, lines: AsyncGenerator[bytes]) -> None:
        self._lines = lines

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._lines

    async def aclose(self) -> None:
        await self._lines.aclose()


class _Piece(NamedTuple):
    """A bit of *text* that the model writes, and the *delta* that carries it."""

    text: str
    delta: Mapping[str, Any]


@dataclass(frozen=True)
class _Reply:
    """One reply on its way out. *limit_tokens* is the longest that it may be."""

    language_model: LanguageModel
    prompt: DemoPrompt
    limit_tokens: int
    reports_usage: bool
    tokens_per_second: float
    effort: str

    async def lines(self) -> AsyncGenerator[bytes]:
        count = count_text(self.language_model.encoding)
        pieces, finish_reason = await asyncio.to_thread(self._write)
        yield self._line([_choice({"role": "assistant", "content": ""})])
        for piece in pieces:
            await self._pause(count(piece.text))
            yield self._line([_choice(piece.delta)])
        yield self._line([_choice({}, finish_reason)])
        if self.reports_usage:
            thoughts = count("".join(piece.text for piece in pieces if "reasoning_content" in piece.delta))
            written = count("".join(piece.text for piece in pieces if "reasoning_content" not in piece.delta))
            yield self._line([], usage=_usage(self.prompt.tokens, written, thoughts))
        yield b"data: [DONE]\n\n"

    def _write(self) -> tuple[list[_Piece], str]:
        """Return the reply in pieces, as many as fit, and its finish reason."""
        count = count_text(self.language_model.encoding)
        calls = choose_tools(self.prompt) if self.prompt.tools else ()
        pieces = list(_thinking(think(self.prompt, self.effort)))
        pieces += _calling(calls) if calls else _saying(answer(self.prompt))
        fitting = _that_fit(pieces, [count(piece.text) for piece in pieces], self.limit_tokens)
        if len(fitting) < len(pieces):
            return fitting, "length"
        return fitting, "tool_calls" if calls else "stop"

    async def _pause(self, tokens: int) -> None:
        await asyncio.sleep(tokens / self.tokens_per_second if self.tokens_per_second else 0)

    def _line(self, choices: Sequence[Mapping[str, Any]], **fields: Any) -> bytes:
        chunk = {"id": "chatcmpl-demo", "object": "chat.completion.chunk", "created": 0}
        chunk |= {"model": self.language_model.name, "choices": choices, **fields}
        return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()


def _thinking(text: str) -> Iterator[_Piece]:
    for piece in _PIECE.findall(text):
        yield _Piece(piece, {"reasoning_content": piece})


def _saying(text: str) -> Iterator[_Piece]:
    for piece in _PIECE.findall(text):
        yield _Piece(piece, {"content": piece})


def _calling(calls: Sequence[PromptToolCall]) -> Iterator[_Piece]:
    """Yield each call: first its id and name, then its arguments bit by bit."""
    for index, call in enumerate(calls):
        function = {"name": call.name, "arguments": ""}
        begun = {"index": index, "id": call.id, "type": "function", "function": function}
        yield _Piece(call.name, {"tool_calls": [begun]})
        for piece in _PIECE.findall(call.arguments):
            yield _Piece(piece, {"tool_calls": [{"index": index, "function": {"arguments": piece}}]})


def _functions(body: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the functions that may be called, by name."""
    if body.get("tool_choice") == "none":
        return {}
    return {tool["function"]["name"]: tool["function"] for tool in body.get("tools", ())}


def _that_fit(pieces: list[_Piece], tokens: list[int], limit_tokens: int) -> list[_Piece]:
    """Return the first *pieces* within the limit. Counted apart they never take less than together."""
    total = 0
    for position, each in enumerate(tokens):
        total += each
        if total > limit_tokens:
            return pieces[:position]
    return pieces


def _message(given: Mapping[str, Any]) -> PromptMessage:
    calls = tuple(PromptToolCall.from_json(call) for call in given.get("tool_calls", ()))
    content, pictures = read_content(given.get("content"))
    return PromptMessage(given["role"], content, given.get("name"), calls, given.get("tool_call_id"), pictures=pictures)


def _choice(delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish_reason}


def _usage(input_tokens: int, written_tokens: int, reasoning_tokens: int) -> dict[str, Any]:
    output_tokens = written_tokens + reasoning_tokens
    details = {"completion_tokens_details": {"reasoning_tokens": reasoning_tokens}} if reasoning_tokens else {}
    return {
        "prompt_tokens": input_tokens,
        "completion_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
        **details,
    }


def _context_too_long(language_model: LanguageModel, prompt_tokens: int, reply_tokens: int) -> httpx2.Response:
    message = (
        f"This model's maximum context length is {language_model.context_window_tokens} tokens. However, you requested "
        f"{prompt_tokens + reply_tokens} tokens ({prompt_tokens} in the messages, {reply_tokens} in the completion). "
        "Please reduce the length of the messages or completion."
    )
    return _error(400, "context_length_exceeded", message, param="messages")


def _error(status: int, code: str, message: str, *, param: str | None = None) -> httpx2.Response:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return httpx2.Response(status, headers={"x-request-id": "demo"}, json={"error": error})
