"""The formats of exports, told from each other by the shape of a conversation, never by the name of a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from conversations.core.errors import ExportError, ExportForeign, ExportManifestOnly

from .chatgpt import looks_like_chatgpt, read_chatgpt
from .claude import looks_like_claude, read_claude
from .imported import ReadConversation, as_list, as_mapping
from .librechat import looks_like_librechat, read_librechat
from .open_webui import looks_like_open_webui, read_open_webui
from .openai_format import looks_like_openai, read_openai
from .windowseat import looks_like_windowseat, read_windowseat

ARCHIVE = re.compile(r"\.zip(\?|$)")


class Format(NamedTuple):
    """*name* is stored with what was imported."""

    name: str
    looks_like: Callable[[Mapping[str, Any]], bool]
    read: ReadConversation


CHATGPT = Format("chatgpt", looks_like_chatgpt, read_chatgpt)
OPENAI = Format("openai", looks_like_openai, read_openai)
# In this order: each test is for what those before it have not.
FORMATS = (
    Format("claude", looks_like_claude, read_claude),
    CHATGPT,
    Format("open_webui", looks_like_open_webui, read_open_webui),
    Format("librechat", looks_like_librechat, read_librechat),
    Format("windowseat", looks_like_windowseat, read_windowseat),
    OPENAI,
)


def find_format(item: Mapping[str, Any]) -> Format | None:
    return next((each for each in FORMATS if each.looks_like(item)), None)


def find_foreign(item: Mapping[str, Any]) -> ExportError | None:
    """Return the error that says whose export this is, if it is known and can't be read."""
    if _is_deepseek(item):
        return ExportForeign(form="DeepSeek")
    if _names_archives(item):
        return ExportManifestOnly()
    if {"header", "title", "time"} <= item.keys():
        return ExportForeign(form="Google Takeout")
    if "chunkedPrompt" in item:
        return ExportForeign(form="Google AI Studio")
    if {"chatId", "contentChunks"} <= item.keys():
        return ExportForeign(form="Le Chat")
    if {"from", "value"} <= item.keys():
        return ExportForeign(form="ShareGPT")
    if "chat-next-web-store" in item:
        return ExportForeign(form="NextChat")
    if "exportType" in item or {"mode", "schemaHash"} <= item.keys():
        return ExportForeign(form="LobeChat")
    return None


def _is_deepseek(item: Mapping[str, Any]) -> bool:
    """Its `mapping` is like ChatGPT's, but what its messages say is in `fragments`."""
    nodes = map(as_mapping, list(as_mapping(item.get("mapping")).values())[:20])
    return any("fragments" in as_mapping(node.get("message")) for node in nodes)


def _names_archives(item: Mapping[str, Any]) -> bool:
    """Tell whether it is a list of ZIP files, as Claude's manifest is: in any field, in any form."""
    rows = [row for value in item.values() for row in as_list(value)[:20]]
    named = [text for row in rows for text in (row.values() if isinstance(row, dict) else [row])]
    return any(isinstance(text, str) and ARCHIVE.search(text) for text in named)
