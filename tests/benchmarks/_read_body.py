"""A request's JSON body, over either API, read as the chat that it says: messages with plain contents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MARKS = ("prompt_cache_breakpoint", "cache_control")
KEPT = ("reasoning_content", "reasoning_details", "thinking_blocks")
KEPT_OF_CALL = ("extra_content",)


def read_body(body: Mapping[str, Any], calls: Sequence[int]) -> dict[str, Any]:
    """Return the *body* with plain `messages`; *calls* says how many calls each message of the prompt has.

    The pictures of a message are pairs of digest and detail, in its `pictures`. Kept reasoning of the Responses API
    stands in the `items` of the message with the calls.
    """
    if "messages" in body:
        messages = [plain_message(message) for message in body["messages"]]
        tools = [_without(tool, *MARKS) for tool in body.get("tools", ())]
        return {**body, "messages": messages, **({"tools": tools} if tools else {})}
    items = iter(body["input"])
    tools = [{"type": "function", "function": _without(tool, "type", "strict")} for tool in body.get("tools", ())]
    messages = [_read_message(items, count) for count in calls]
    if next(items, None) is not None:
        raise ValueError("there are more items than the prompt has messages")
    return {"model": body["model"], "messages": messages, **({"tools": tools} if tools else {})}


def marked_places(body: Mapping[str, Any]) -> list[int]:
    """Return the places of the messages or items that a cache breakpoint stands on."""
    told = body["messages"] if "messages" in body else body["input"]
    return [
        place
        for place, each in enumerate(told)
        if isinstance(each.get("content"), list) and any(mark in part for part in each["content"] for mark in MARKS)
    ]


def plain_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a *message* of Chat Completions with its text as content, and its pictures beside it."""
    content = message["content"]
    return {**message, **({"content": content} if isinstance(content, str) else _plain_content(content))}


def _plain_content(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    pictures = [_picture(part) for part in parts if "image_url" in part]
    plain: dict[str, Any] = {"content": "".join(part.get("text", "") for part in parts)}
    return plain | ({"pictures": pictures} if pictures else {})


def _picture(part: Mapping[str, Any]) -> tuple[str, str]:
    """Return the digest and the detail of a picture: over one API they are in an object, over the other beside it."""
    image = part["image_url"] if part["type"] == "image_url" else {**part, "url": part["image_url"]}
    return image["url"].rpartition(";")[2], image.get("detail", "")


def _read_message(items: Iterator[Mapping[str, Any]], calls: int) -> dict[str, Any]:
    """Read the items of one message: its text, or its text, its calls, and the reasoning between these."""
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    kept: list[dict[str, Any]] = []
    told: list[dict[str, Any]] = []
    while True:
        item = dict(next(items))
        kind = item["type"]
        if kind == "message":
            message |= {"role": item["role"], **_plain_content(item["content"])}
        elif kind == "function_call_output":
            message |= {"role": "tool", "content": item["output"], "tool_call_id": item["call_id"]}
        elif kind == "function_call":
            kept.append({"call": len(told)})
            function = {"name": item["name"], "arguments": item["arguments"]}
            told.append({"id": item["call_id"], "type": "function", "function": function})
        else:
            kept.append(item)
        if len(told) == calls and (calls or kind in ("message", "function_call_output")):
            break
    if told:
        message["tool_calls"] = told
    if any("call" not in item for item in kept):
        message["items"] = kept
    return message


def _without(fields: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}
