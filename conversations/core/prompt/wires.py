"""The two APIs that a prompt can be sent over, and where a provider is told to keep its beginning in the cache.

    chat        Chat Completions: a list of messages, the calls of tools in a message, each result a message
    responses   the Responses API: a list of items, each call and each result an item, reasoning between them

A cache breakpoint stands on a part of a message: what is before it and with it can be read from the cache by the next
request. It stands after the system message, and before the newest question, with which its grounding is sent: on the
last message of this window that may carry one and on the one that was the last before the question before. So what the
last request wrote is found again, and nothing is written that the next request does not have. The schemas of the tools
come first in what a provider caches: where no system message follows them, they have a breakpoint of their own. That
makes three at most; providers take four.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from .continuation import CONTINUE_REQUEST
from .messages import Prompt, PromptMessage
from .pictures import PromptPicture

Wire = Literal["chat", "responses"]
Breakpoints = Literal["", "openai", "anthropic"]
# The mark of a breakpoint, by who understands it. Checked 2026-11-25.
# OpenAI: https://platform.openai.com/docs/guides/prompt-caching (GPT-5.6 and later); not on what the model wrote, since
# `output_text` has no such field in openai 3.52, nor on tools
# Anthropic, by way of OpenRouter and LiteLLM: https://openrouter.ai/docs/features/prompt-caching, of a tool
# https://openrouter.ai/docs/agent-sdk/typescript/api-reference/models/chatfunctiontoolfunction
MARKS: Final[Mapping[Breakpoints, Mapping[str, Any]]] = {
    "openai": {"prompt_cache_breakpoint": {"mode": "explicit"}},
    "anthropic": {"cache_control": {"type": "ephemeral"}},
}


@dataclass(frozen=True, slots=True)
class PromptForm:
    """How a prompt is written for its provider."""

    wire: Wire = "chat"
    breakpoints: Breakpoints = ""


PLAIN_FORM: Final = PromptForm()


def write_prompt(prompt: Prompt, form: PromptForm) -> list[dict[str, Any]]:
    """Return *prompt* as the JSON list that is sent: the messages of a chat, or the items of a response's input."""
    marked = _marked_places(prompt, form.breakpoints) if form.breakpoints else set()
    mark = MARKS[form.breakpoints] if form.breakpoints else {}
    if form.wire == "chat":
        return [_chat_message(message, mark if place in marked else {}) for place, message in enumerate(prompt)]
    return [item for place, message in enumerate(prompt) for item in _items(message, mark if place in marked else {})]


def write_tools(tools: Sequence[Mapping[str, Any]], prompt: Prompt, form: PromptForm) -> list[Mapping[str, Any]]:
    """Return the schemas of *tools* as they are sent with *prompt*."""
    if form.wire == "responses":
        return [_flat(tool) for tool in tools]
    has_system_message = bool(prompt) and prompt[0].role == "system"
    if form.breakpoints != "anthropic" or has_system_message or not tools:
        return list(tools)
    return [*tools[:-1], {**tools[-1], **MARKS[form.breakpoints]}]


def _flat(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool as the Responses API writes it; unasked it would hold a schema to rules that ours need not keep."""
    return {"type": "function", "strict": False, **tool["function"]}


def tool_names(tools: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the tools that `write_tools` has written."""
    return [tool.get("function", tool)["name"] for tool in tools]


def system_text(messages: Sequence[Any]) -> str | None:
    """Return the system prompt of a written prompt, None where it has none (or is a list of texts to be embedded)."""
    if not messages or not isinstance(messages[0], Mapping) or messages[0].get("role") != "system":
        return None
    content = messages[0]["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _marked_places(prompt: Prompt, breakpoints: Breakpoints) -> set[int]:
    """Return the places of the messages that carry a breakpoint."""
    asked = [place for place, message in enumerate(prompt) if _is_question(message)][-2:]
    roles = ("system", "user") if breakpoints == "openai" else ("system", "user", "assistant")
    places = {_markable_before(prompt, place, roles) for place in asked}
    if prompt and prompt[0].role == "system":
        places.add(0)
    return {place for place in places if place is not None}


def _is_question(message: PromptMessage) -> bool:
    return message.role == "user" and message.content != CONTINUE_REQUEST


def _markable_before(prompt: Prompt, before: int, roles: Sequence[str]) -> int | None:
    """Return the last place before *before* of a message of *roles* that says something: only parts can be marked."""
    places = range(before - 1, -1, -1)
    return next((at for at in places if _has_parts(prompt[at]) and prompt[at].role in roles), None)


def _has_parts(message: PromptMessage) -> bool:
    return bool(message.content or message.pictures)


def _chat_message(message: PromptMessage, mark: Mapping[str, Any]) -> dict[str, Any]:
    wire = message.to_wire()
    if mark:
        content = wire["content"]
        wire["content"] = _marked(content if isinstance(content, list) else _text_parts(content, "text"), mark)
    return wire


def _items(message: PromptMessage, mark: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a message as items: what it says, its calls, and the reasoning before these."""
    if message.role == "tool":
        yield {"type": "function_call_output", "call_id": message.tool_call_id, "output": message.content}
        return
    kept = message.kept.items if message.kept is not None else []
    first_call = next((place for place, item in enumerate(kept) if _is_call_mark(item)), len(kept))
    yield from kept[:first_call]
    if message.content or message.pictures or not message.tool_calls:
        kind = "output_text" if message.role == "assistant" else "input_text"
        yield {
            "type": "message",
            "role": message.role,
            "content": _marked([*_text_parts(message.content, kind), *map(_image_part, message.pictures)], mark),
        }
    calls = {place: _call_item(call.to_wire()) for place, call in enumerate(message.tool_calls)}
    for item in kept[first_call:]:
        if not _is_call_mark(item):
            yield item
        elif item["call"] in calls:
            yield calls.pop(item["call"])
    yield from calls.values()


def _is_call_mark(item: Mapping[str, Any]) -> bool:
    """Tell whether *item* is our mark of a call: items of a provider have a type, and may have any other field."""
    return "call" in item and "type" not in item


def _text_parts(text: str, kind: str) -> list[dict[str, Any]]:
    return [{"type": kind, "text": text}] if text else []


def _image_part(picture: PromptPicture) -> dict[str, Any]:
    """Return the part of a picture on the Responses API."""
    detail = {"detail": picture.detail} if picture.detail else {}
    return {"type": "input_image", "image_url": picture.placeholder, **detail}


def _marked(parts: list[dict[str, Any]], mark: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return *parts* with *mark* on the last one."""
    return [*parts[:-1], {**parts[-1], **mark}] if mark and parts else parts


def _call_item(call: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call["id"], **call["function"]}
