"""The Responses API of the fake provider: its requests read as chats, and its answers told as events of a response.

So each model of the fake provider can be asked over both APIs. Where it is strict, it is so as OpenAI documents it: an
item of an unknown type, a call without its output, an output without its call, or a cache breakpoint on what the model
wrote is refused.
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.upstream_answer import Answer

PARTS = {"input_text", "output_text", "input_image"}


def read_input(body: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a response's request with the fields of a chat beside its own. Raises `ValueError`."""
    messages: list[dict[str, Any]] = []
    reasoning: list[dict[str, Any]] = []
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind == "message":
            messages.append({"role": item["role"], "content": _text(item["content"]), "items": reasoning})
        elif kind == "reasoning":
            reasoning.append(item)
            continue
        elif kind == "function_call":
            _add_call(messages, item, reasoning)
        elif kind == "function_call_output":
            messages.append({"role": "tool", "content": item["output"], "tool_call_id": item["call_id"]})
        else:
            raise ValueError(f"Invalid value: '{kind}'")
        reasoning = []
    if reasoning:
        raise ValueError(f"Item '{reasoning[-1]['id']}' of type 'reasoning' was provided without its following item")
    tools = [
        {"type": "function", "function": {k: v for k, v in tool.items() if k != "type"}}
        for tool in body.get("tools", ())
    ]
    chat = {"messages": messages, "max_tokens": body.get("max_output_tokens", 0)}
    return body | chat | ({"tools": tools} if tools else {})


def _add_call(messages: list[dict[str, Any]], item: dict[str, Any], reasoning: list[dict[str, Any]]) -> None:
    """Add a call to the assistant's message that it follows, as a chat has it."""
    last = messages[-1] if messages else {"role": ""}
    if last["role"] != "assistant" or last.get("ended"):
        last = {"role": "assistant", "content": "", "items": []}
        messages.append(last)
    last["items"] = [*last["items"], *reasoning]
    function = {"name": item["name"], "arguments": item["arguments"]}
    last.setdefault("tool_calls", []).append({"id": item["call_id"], "type": "function", "function": function})


def _text(content: Any) -> Any:
    """Return the content as a chat has it: text, or parts where there is a picture."""
    if isinstance(content, str):
        return content
    if not {part["type"] for part in content} <= PARTS:
        raise ValueError("Invalid type of a part")
    if any(part["type"] == "output_text" and "prompt_cache_breakpoint" in part for part in content):
        raise ValueError("Unknown parameter: 'input[0].content[0].prompt_cache_breakpoint'.")
    if all(part["type"] != "input_image" for part in content):
        return "".join(part["text"] for part in content)
    return [
        _picture(part) if part["type"] == "input_image" else {"type": "text", "text": part["text"]} for part in content
    ]


def _picture(part: dict[str, Any]) -> dict[str, Any]:
    detail = {"detail": part["detail"]} if "detail" in part else {}
    return {"type": "image_url", "image_url": {"url": part["image_url"], **detail}}


class ResponsesAnswer(Answer):
    """Tells the chunks of a chat as the events of a response."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._number = 0
        self._items: list[dict[str, Any]] = []
        self._usage: dict[str, Any] | None = None

    async def event(self, kind: str, **fields: Any) -> None:
        event = {"type": kind, "sequence_number": self._number, **fields}
        self._number += 1
        await self.raw(f"event: {kind}{self.line_end}".encode())
        await self.line(f"data: {json.dumps(event, ensure_ascii=False)}")

    async def head(self, status: int = 200, headers: dict[str, str] | None = None) -> None:
        await super().head(status, headers)
        if status == 200 and headers is None:
            await self.event("response.created", response=self._response("in_progress"))

    async def chunk(self, delta: dict[str, Any] | None, **fields: Any) -> None:
        delta = delta or {}
        self.exchange.emitted += [text for text in [delta.get("content")] if text]
        if thought := delta.get("reasoning_content"):
            await self._open("reasoning", {"summary": [], "encrypted_content": f"enc-{len(self._items)}-\u00e9=="})
            place = len(self._items) - 1
            await self.event(
                "response.reasoning_summary_text.delta", output_index=place, summary_index=0, delta=thought
            )
        if text := delta.get("content") or delta.get("refusal"):
            await self._open("message", {"role": "assistant", "content": []})
            kind = "output_text" if delta.get("content") else "refusal"
            await self.event(f"response.{kind}.delta", output_index=len(self._items) - 1, content_index=0, delta=text)
        for call in delta.get("tool_calls", ()):
            await self._call(call)
        self._usage = fields.get("usage") or self._usage

    async def _call(self, call: dict[str, Any]) -> None:
        function = call["function"]
        if function.get("name"):
            await self._close()
            named = {"call_id": call.get("id") or "", "name": function["name"], "arguments": ""}
            await self._open("function_call", named)
        if function.get("arguments"):
            place = len(self._items) - 1
            self._items[place]["arguments"] += function["arguments"]
            await self.event("response.function_call_arguments.delta", output_index=place, delta=function["arguments"])

    async def _open(self, kind: str, fields: dict[str, Any]) -> None:
        if self._items and self._items[-1]["type"] == kind and self._items[-1]["status"] == "in_progress":
            return
        await self._close()
        place = len(self._items)
        item = {"id": f"item_{place}", "type": kind, "status": "in_progress", **fields}
        self._items.append(item)
        shown = {name: value for name, value in item.items() if name != "encrypted_content"}
        await self.event("response.output_item.added", output_index=place, item=shown)

    async def _close(self) -> None:
        if self._items and self._items[-1]["status"] == "in_progress":
            self._items[-1]["status"] = "completed"
            await self.event("response.output_item.done", output_index=len(self._items) - 1, item=self._items[-1])

    async def finish(self, reason: str | None = "stop", *, usage: bool = True, done: bool = True) -> None:
        """End the response; without a *reason* it has no last event."""
        await self._close()
        if usage:
            self._usage = self.usage()
        reasons = {"length": "max_output_tokens", "content_filter": "content_filter"}
        if reason in reasons:
            details = {"reason": reasons[reason]}
            await self.event("response.incomplete", response=self._response("incomplete", incomplete_details=details))
        elif reason:
            await self.event("response.completed", response=self._response("completed"))
        if done:
            await self.line("data: [DONE]")
        await self.close()

    def _response(self, status: str, **fields: Any) -> dict[str, Any]:
        told = self._usage
        usage = told and {
            "input_tokens": told["prompt_tokens"],
            "input_tokens_details": told.get("prompt_tokens_details", {}),
            "output_tokens": told["completion_tokens"],
            "output_tokens_details": told.get("completion_tokens_details", {}),
            "total_tokens": told.get("total_tokens"),
        }
        head = {"id": "resp_fake", "object": "response", "created_at": 1, "model": self.exchange.model, "error": None}
        return {**head, "status": status, "output": self._items, "usage": usage, **fields}
