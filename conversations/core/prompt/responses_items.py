"""Messages and tools as the Responses API has them: items, each call and each result one, reasoning between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .cache_breakpoints import mark_last
from .messages import PromptMessage
from .pictures import PromptPicture


def message_items(message: PromptMessage, mark: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a message as items: what it says with the *mark* of a cache breakpoint, its calls, the reasoning before."""
    if message.role == "tool":
        yield {"type": "function_call_output", "call_id": message.tool_call_id, "output": message.content}
        return
    kept = message.kept.items if message.kept is not None else []
    first_call = next((place for place, item in enumerate(kept) if _is_call_mark(item)), len(kept))
    yield from kept[:first_call]
    if message.content or message.pictures or not message.tool_calls:
        parts = [*_text_parts(message), *map(_picture_part, message.pictures)]
        yield {"type": "message", "role": message.role, "content": mark_last(parts, mark)}
    calls = {place: _call_item(call.to_json()) for place, call in enumerate(message.tool_calls)}
    for item in kept[first_call:]:
        if not _is_call_mark(item):
            yield item
        elif item["call"] in calls:
            yield calls.pop(item["call"])
    yield from calls.values()


def tool_item(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool as the Responses API writes it; unasked it would hold a schema to rules that ours need not keep."""
    return {"type": "function", "strict": False, **tool["function"]}


def _is_call_mark(item: Mapping[str, Any]) -> bool:
    """Tell whether *item* is our mark of a call: items of a provider have a type, and may have any other field."""
    return "call" in item and "type" not in item


def _text_parts(message: PromptMessage) -> list[dict[str, Any]]:
    kind = "output_text" if message.role == "assistant" else "input_text"
    return [{"type": kind, "text": message.content}] if message.content else []


def _picture_part(picture: PromptPicture) -> dict[str, Any]:
    detail = {"detail": picture.detail} if picture.detail else {}
    return {"type": "input_image", "image_url": picture.placeholder, **detail}


def _call_item(call: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call["id"], **call["function"]}
