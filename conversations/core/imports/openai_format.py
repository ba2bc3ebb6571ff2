"""OpenAI-format messages: a list of them, one a line (JSONL), or objects with `messages`, as for fine-tuning.

They have neither ids nor dates: a message is known by what it and all before it say, a conversation by all of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from conversations.core.errors import InvalidHistory
from conversations.core.prompt.messages import PromptMessage
from conversations.core.prompt.openai_messages import read_messages

from .imported import (
    EMPTY,
    SYSTEM,
    TOOLS,
    Broken,
    ImportedConversation,
    ImportedMessage,
    PictureSource,
    as_id,
    as_list,
    as_mapping,
    as_text,
    unknown,
)
from .moments import read_moment
from .open_webui import read_data_url

ROLES = {"system", "developer", "user", "assistant", "tool", "function"}
TEXT_PARTS = ("text", "input_text", "output_text")


def looks_like_message(item: Mapping[str, Any]) -> bool:
    return item.get("role") in ROLES and ("content" in item or "tool_calls" in item)


def looks_like_openai(item: Mapping[str, Any]) -> bool:
    messages = as_list(item.get("messages"))
    return bool(messages) and isinstance(messages[0], dict) and looks_like_message(messages[0])


def read_openai(item: Mapping[str, Any]) -> ImportedConversation:
    """Return the conversation. Raises `Broken`."""
    rows = [row for row in as_list(item.get("messages")) if isinstance(row, dict)]
    if not rows:
        raise Broken("no_messages")
    digests = list(_digests(rows))
    conversation = ImportedConversation(
        as_id(item.get("id")) or digests[-1], as_text(item.get("title")), read_moment(item.get("created_at"))
    )
    conversation.found = len(rows)
    _read_rows(conversation, rows, digests)
    conversation.head = conversation.messages[-1].source_id if conversation.messages else None
    return conversation


def _digests(rows: list[dict[str, Any]]) -> Iterator[str]:
    digest = b""
    for row in rows:
        said = json.dumps(row, sort_keys=True).encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(digest + said).digest()
        yield digest.hex()[:40]


def _read_rows(conversation: ImportedConversation, rows: list[dict[str, Any]], digests: list[str]) -> None:
    parent: str | None = None
    steps: list[tuple[str, dict[str, Any]]] = []
    for row, key in zip(rows, digests, strict=True):
        role = as_text(row.get("role"))
        if role in ("system", "developer"):
            conversation.left_out[SYSTEM] += 1
        elif role in ("tool", "function") or row.get("tool_calls") or row.get("function_call"):
            steps.append((key, row))
        elif role not in ("user", "assistant"):
            conversation.left_out[unknown(role)] += 1
        elif message := _read_message(conversation, row, key, parent):
            if message.role == "assistant" and parent:
                message.steps = read_steps(steps)
                steps = [] if message.steps else steps
            conversation.left_out.update({TOOLS: len(steps)} if steps else {})
            steps = []
            conversation.messages.append(message)
            parent = key
    conversation.left_out.update({TOOLS: len(steps)} if steps else {})


def read_steps(rows: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, PromptMessage]]:
    """Return the tool turns before a reply; none if a call is without its result, or a result without its call."""
    fields = ("role", "content", "tool_calls", "tool_call_id")
    plain = [{name: row[name] for name in fields if row.get(name)} for _, row in rows]
    try:
        read = read_messages([{"content": "", **row} for row in plain]).messages if plain else []
    except InvalidHistory:
        return []
    return [(key, message) for (key, _), message in zip(rows, read, strict=True)]


def _read_message(
    conversation: ImportedConversation, row: Mapping[str, Any], key: str, parent: str | None
) -> ImportedMessage | None:
    content, pictures = row.get("content"), []
    texts = [content] if isinstance(content, str) else []
    for part in map(as_mapping, as_list(content)):
        kind = as_text(part.get("type"))
        if kind in TEXT_PARTS:
            texts.append(as_text(part.get("text")))
        elif kind == "image_url" and (found := read_data_url(_url(part))) is not None:
            pictures.append(PictureSource(content=found))
        else:
            conversation.missing[unknown(kind)] += 1
    text = "\n".join(texts)
    is_user = row.get("role") == "user"
    if not text.strip() and not pictures:
        conversation.left_out[EMPTY] += 1
        return None
    return ImportedMessage(
        "user" if is_user else "assistant",
        [(key, text)],
        parent,
        reasoning=[as_text(row.get("reasoning_content"))],
        pictures=pictures,
        columns={"name": as_text(row.get("name"))[:100]},
    )


def _url(part: Mapping[str, Any]) -> str:
    return as_text(as_mapping(part.get("image_url")).get("url"))
