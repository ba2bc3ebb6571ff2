"""Pages without a browser, and programs: each asks for one reply and takes it down as it comes."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import httpx2
from websockets.asyncio.client import ClientConnection, connect

SILENCE_SECONDS = 5.0
QUESTION = "Tell me about sorting, step by step."


@dataclass(frozen=True, slots=True)
class Received:
    """A reply as it arrived; *frames* is how many messages it came in."""

    text: str
    first_token_seconds: float
    frames: int
    gaps: int = 0  # pieces that came although text before them was missing


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page of the product, signed in by its cookie, that follows its conversation."""

    address: str
    cookie: str
    conversation: uuid.UUID
    content: str = QUESTION

    def connect(self) -> connect:
        """Return the socket to be opened, which follows nothing yet."""
        headers = {"Cookie": f"sessionid={self.cookie}"}
        address = f"{self.address.replace('http', 'ws', 1)}/ws/"
        return connect(address, origin=self.address, additional_headers=headers)

    async def follow(self, socket: ClientConnection) -> None:
        """Ask for the conversation, as a page that is opened does, and wait for it."""
        await socket.send(json.dumps(self._sync()))
        while json.loads(await socket.recv())["type"] != "conversation.snapshot":
            pass

    async def ask(self) -> Received:
        """Do as `ask_on`, by a socket that is opened for it."""
        async with self.connect() as socket:
            return await self.ask_on(socket)

    async def ask_on(self, socket: ClientConnection) -> Received:
        """Post a message and follow the reply to its end. Raises `RuntimeError` if it does not arrive whole."""
        await socket.send(json.dumps(self._message()))
        asked_at, first_at, text, frames, gaps = time.monotonic(), None, "", 0, 0
        while True:
            try:
                payload = await asyncio.wait_for(socket.recv(), SILENCE_SECONDS)
            except TimeoutError:  # frames between processes may be lost, also the last one: a page asks then
                await socket.send(json.dumps(self._sync()))
                continue
            frames += 1
            frame = json.loads(payload)
            if frame["type"] == "reply.delta":
                first_at = first_at or time.monotonic()
                gaps += frame["at"] > len(text)
                text = text.ljust(frame["at"])[: frame["at"]] + frame["text"]
            elif first_at and (frame["type"] == "reply.done" or _tells_end(frame)):
                return Received(text, first_at - asked_at, frames, gaps)
            elif frame["type"] in ("reply.failed", "error"):
                raise RuntimeError(f"not what was expected: {payload}")

    def _sync(self) -> dict[str, object]:
        return {"type": "conversation.sync", "conversation": str(self.conversation), "from_position": 0}

    def _message(self) -> dict[str, str]:
        return {
            "type": "message.post",
            "conversation": str(self.conversation),
            "client_id": str(uuid.uuid4()),
            "content": self.content,
        }


def _tells_end(frame: dict[str, Any]) -> bool:
    """Is it a snapshot in which no reply is streaming?"""
    messages = frame["messages"] if frame["type"] == "conversation.snapshot" else []
    return bool(messages) and not any(message.get("state") == "streaming" for message in messages)


@dataclass(frozen=True, slots=True)
class RelayPage:
    """A page of the bare relay: it sends the provider's request itself."""

    address: str
    language_model: str

    async def ask(self) -> Received:
        """Send the request and follow the reply to its end."""
        async with connect(self.address) as socket:
            await socket.send(json.dumps(chat_body(self.language_model)))
            asked_at, first_at, text, frames = time.monotonic(), None, "", 0
            async for payload in socket:
                frames += 1
                for choice in [] if payload == "[DONE]" else json.loads(payload)["choices"]:
                    if piece := choice["delta"].get("content"):
                        first_at = first_at or time.monotonic()
                        text += piece
        return Received(text, (first_at or asked_at) - asked_at, frames)


@dataclass(frozen=True, slots=True)
class Program:
    """A program that asks *base_url* for a chat completion as a stream, with its *key*."""

    base_url: str
    language_model: str
    key: str = "none"

    async def ask(self) -> Received:
        """Send the request and follow the answer to its end. Raises `RuntimeError` if it is refused."""
        headers = {"Authorization": f"Bearer {self.key}"}
        body = chat_body(self.language_model)
        asked_at, first_at, text, frames = time.monotonic(), None, "", 0
        async with (
            httpx2.AsyncClient(timeout=60) as client,
            client.stream("POST", f"{self.base_url}/chat/completions", json=body, headers=headers) as response,
        ):
            if response.status_code != HTTPStatus.OK:
                raise RuntimeError(f"not what was expected: {await response.aread()!r}")
            async for line in response.aiter_lines():
                if not line.startswith("data: ") or line == "data: [DONE]":
                    continue
                frames += 1
                for choice in json.loads(line.removeprefix("data: "))["choices"]:
                    if piece := choice["delta"].get("content"):
                        first_at = first_at or time.monotonic()
                        text += piece
        return Received(text, (first_at or asked_at) - asked_at, frames)


def chat_body(language_model: str) -> dict[str, Any]:
    return {
        "model": language_model,
        "messages": [{"role": "user", "content": QUESTION}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
