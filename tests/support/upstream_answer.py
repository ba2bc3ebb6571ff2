"""One request to the fake provider, and what writes the answer to it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from tests.support.sent_pictures import text_of

STREAM_HEADERS = {"content-type": "text/event-stream; charset=utf-8", "x-request-id": "req_fake"}


class Cut(Exception):
    """Makes uvicorn close the connection in the middle of the body."""


@dataclass
class Exchange:
    """One request and what was answered, as GET /log shows it."""

    body: dict[str, Any]
    headers: dict[str, str]
    client_port: int = 0
    emitted: list[str] = field(default_factory=list)
    called: list[dict[str, str]] = field(default_factory=list)
    ended: str = "open"
    began_at: float = field(default_factory=time.time)
    ended_at: float | None = None
    released: asyncio.Event = field(default_factory=asyncio.Event)
    path: str = "/v1/chat/completions"
    usage: dict[str, Any] | None = None  # that a whole stream ended with

    @property
    def model(self) -> str:
        return str(self.body.get("model"))

    def end(self, how: str) -> None:
        if self.ended == "open":
            self.ended, self.ended_at = how, time.time()

    def to_json(self) -> dict[str, Any]:
        shown = {name: value for name, value in vars(self).items() if name != "released"}
        return {"model": self.model, **shown}


class Answer:
    """Writes one answer, logging every piece of text that goes out."""

    def __init__(self, exchange: Exchange, send: Callable[..., Awaitable[None]]) -> None:
        self.exchange = exchange
        self._send = send
        self.line_end = "\n"
        self.prompt_tokens: int | None = None  # as this model's own tokenizer counts it; None is words

    async def head(self, status: int = 200, headers: dict[str, str] | None = None) -> None:
        pairs = [(name.encode(), value.encode()) for name, value in (headers or STREAM_HEADERS).items()]
        await self._send({"type": "http.response.start", "status": status, "headers": pairs})

    async def raw(self, content: bytes) -> None:
        await self._send({"type": "http.response.body", "body": content, "more_body": True})

    async def close(self) -> None:
        self.exchange.end("complete")
        await self._send({"type": "http.response.body", "body": b""})

    async def cut(self) -> None:
        self.exchange.end("cut")
        raise Cut

    async def whole(self, status: int, content_type: str, content: str, **headers: str) -> None:
        await self.head(status, {"content-type": content_type, **headers})
        await self.raw(content.encode())
        await self.close()

    async def line(self, text: str) -> None:
        await self.raw(f"{text}{self.line_end}{self.line_end}".encode())

    async def chunk(self, delta: dict[str, Any] | None, **fields: Any) -> None:
        await self.line(f"data: {json.dumps(self.chunk_json(delta, **fields), ensure_ascii=False)}")

    def chunk_json(self, delta: dict[str, Any] | None, finish: str | None = None, **fields: Any) -> dict[str, Any]:
        choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
        self.exchange.emitted += [text for text in [(delta or {}).get("content")] if text]
        head = {"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1, "model": self.exchange.model}
        return {**head, "choices": choices, **fields}

    def usage(self) -> dict[str, Any]:
        prompt_tokens = self.prompt_tokens
        if prompt_tokens is None:
            prompt_tokens = sum(len(text_of(message["content"]).split()) for message in self.exchange.body["messages"])
        completion_tokens = len(self.exchange.emitted)
        return {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
            "prompt_tokens_details": {"cached_tokens": prompt_tokens // 2},
        }

    async def tokens(self, count: int, *, delay_seconds: float = 0) -> None:
        for number in range(count):
            await asyncio.sleep(delay_seconds)
            await self.token(number)

    async def token(self, number: int) -> None:
        await self.chunk({"content": f" word{number}" if number else "word0"})

    async def texts(self, texts: list[str]) -> None:
        for text in texts:
            await self.chunk({"content": text})

    async def finish(self, reason: str | None = "stop", *, usage: bool = True, done: bool = True) -> None:
        """End the stream as OpenAI does: finish reason, usage when it was asked for, the done line."""
        await self.chunk({}, finish=reason)
        if usage and self.exchange.body.get("stream_options", {}).get("include_usage"):
            self.exchange.usage = self.usage()
            await self.chunk(None, usage=self.exchange.usage)
        if done:
            await self.line("data: [DONE]")
        await self.close()
