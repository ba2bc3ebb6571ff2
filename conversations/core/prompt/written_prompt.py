"""A prompt and its tools as the JSON that is sent, in the format of the provider; and what is read back from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .cache_breakpoints import mark_last, mark_tools, marks_of_messages
from .messages import Prompt, PromptMessage
from .pictures import content_parts
from .prompt_format import PromptFormat
from .responses_items import message_items, tool_item


def write_prompt(prompt: Prompt, prompt_format: PromptFormat) -> list[dict[str, Any]]:
    """Return *prompt* as the JSON list that is sent: the messages of a chat, or the items of a response's input."""
    marked = zip(prompt, marks_of_messages(prompt, prompt_format.breakpoints), strict=True)
    if prompt_format.wire == "chat":
        return [_chat_message(message, mark) for message, mark in marked]
    return [item for message, mark in marked for item in message_items(message, mark)]


def write_tools(
    tools: Sequence[Mapping[str, Any]], prompt: Prompt, prompt_format: PromptFormat
) -> list[Mapping[str, Any]]:
    """Return the schemas of *tools* as they are sent with *prompt*."""
    if prompt_format.wire == "responses":
        return [tool_item(tool) for tool in tools]
    return mark_tools(tools, prompt, prompt_format.breakpoints)


def tool_names(tools: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of the tools that `write_tools` has written."""
    return [tool.get("function", tool)["name"] for tool in tools]


def system_text(messages: Sequence[Any]) -> str | None:
    """Return the system prompt of a written prompt, None where it has none (or is a list of texts to be embedded)."""
    if not messages or not isinstance(messages[0], Mapping) or messages[0].get("role") != "system":
        return None
    content = messages[0]["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _chat_message(message: PromptMessage, mark: Mapping[str, Any]) -> dict[str, Any]:
    written = message.to_json()
    if mark:
        written["content"] = mark_last(content_parts(message.content, message.pictures), mark)
    return written
