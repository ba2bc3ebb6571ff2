"""Open WebUI's export: rows with a `chat`, whose `history` holds the messages by their ids.

The children of an assistant's message are missing in exports of 0.11.0 to 0.11.2, so only `parentId` counts. Files are
on the other server; only pictures that are written into the message are in the export.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Mapping
from typing import Any

from .imported import (
    EMPTY,
    FAILED,
    MISSING_FILES,
    SYSTEM,
    TOOL_PARTS,
    TOOLS,
    Broken,
    ImportedConversation,
    ImportedMessage,
    Left,
    PictureSource,
    as_id,
    as_list,
    as_mapping,
    as_text,
    unknown,
)
from .message_tree import Node, read_nodes
from .moments import read_moment

FOLDED = re.compile(r'<details type="(?P<type>\w+)"')
SPACE = re.compile(r"\s*")
QUOTED = re.compile(r"^> ?", re.MULTILINE)
DATA_URL = re.compile(r"data:image/[\w.+-]{1,40};base64,", re.ASCII)
MOST_PICTURE_CHARACTERS = 30_000_000


def looks_like_open_webui(item: Mapping[str, Any]) -> bool:
    chat = as_mapping(item.get("chat"))
    return isinstance(chat.get("history"), dict) or isinstance(chat.get("messages"), list)


def read_open_webui(item: Mapping[str, Any]) -> ImportedConversation:
    """Return the conversation. Raises `Broken`."""
    chat = as_mapping(item.get("chat"))
    history = as_mapping(chat.get("history"))
    rows = as_mapping(history.get("messages"))
    nodes = [
        Node(str(key), as_id(row.get("parentId")) or None, row) for key, row in rows.items() if isinstance(row, dict)
    ] or _linear(as_list(chat.get("messages")))
    if not nodes:
        raise Broken("no_messages")
    conversation = ImportedConversation(
        as_id(item.get("id")),
        as_text(item.get("title")) or as_text(chat.get("title")),
        read_moment(item.get("created_at")) or read_moment(chat.get("timestamp")),
        read_moment(item.get("updated_at")),
        archived=item.get("archived") is True,
        starred=item.get("pinned") is True,
    )
    read_nodes(
        conversation,
        nodes,
        lambda row: _read_message(conversation, row),
        head=as_id(history.get("currentId")) or nodes[-1].id,
    )
    return conversation


def _linear(rows: list[Any]) -> list[Node]:
    nodes: list[Node] = []
    for number, row in enumerate(row for row in rows if isinstance(row, dict)):
        nodes.append(Node(as_id(row.get("id")) or f"#{number}", nodes[-1].id if nodes else None, row))
    return nodes


def _read_message(conversation: ImportedConversation, row: Mapping[str, Any]) -> ImportedMessage | Left:
    role = as_text(row.get("role"))
    if role in ("system", "tool"):
        return Left(SYSTEM if role == "system" else TOOLS)
    if role not in ("user", "assistant"):
        return Left(unknown(role) if role else EMPTY)
    text, reasoning, tool_parts = read_details(as_text(row.get("content")))
    pictures = _read_files(conversation, row)
    conversation.missing.update({TOOL_PARTS: tool_parts} if tool_parts else {})
    if not text.strip() and not (pictures and role == "user"):
        return Left(FAILED if row.get("error") else EMPTY)
    return ImportedMessage(
        "user" if role == "user" else "assistant",
        [("", text)],
        reasoning=reasoning,
        model=as_text(row.get("model")) if role == "assistant" else "",
        created_at=read_moment(row.get("timestamp")),
        pictures=pictures if role == "user" else [],
    )


def read_details(content: str) -> tuple[str, list[str], int]:
    """Return *content* without its folded parts, the reasoning among them, and how many of them were of tools."""
    reasoning: list[str] = []
    kept: list[str] = []
    tool_parts = at = 0
    while found := FOLDED.search(content, at):
        inner = content.find(">", found.end()) + 1
        end = content.find("</details>", inner) if inner else -1
        if end < 0:  # then none that begins behind it ends either
            break
        kept.append(content[at : found.start()])
        at = SPACE.match(content, end + len("</details>")).end()  # type: ignore[union-attr]  # it matches everything
        if found["type"] == "reasoning":
            said = _without_summaries(content[inner:end])
            reasoning.append(html.unescape(QUOTED.sub("", html.unescape(said))).strip())
        elif found["type"] in ("tool_calls", "code_interpreter"):
            tool_parts += 1
        else:
            kept.append(content[found.start() : at])
    return "".join([*kept, content[at:]]), reasoning, tool_parts


def _without_summaries(text: str) -> str:
    kept: list[str] = []
    at = 0
    while (begin := text.find("<summary>", at)) >= 0 and (end := text.find("</summary>", begin)) >= 0:
        kept.append(text[at:begin])
        at = SPACE.match(text, end + len("</summary>")).end()  # type: ignore[union-attr]  # it matches everything
    return "".join([*kept, text[at:]])


def _read_files(conversation: ImportedConversation, row: Mapping[str, Any]) -> list[PictureSource]:
    pictures = []
    for each in map(as_mapping, as_list(row.get("files"))):
        content = read_data_url(as_text(each.get("url")))
        if content is None:
            conversation.missing[MISSING_FILES] += 1
        else:
            pictures.append(PictureSource(as_text(each.get("name")), content=content))
    return pictures


def read_data_url(url: str) -> bytes | None:
    """Return the bytes of a picture that is written into its address; None if none is."""
    found = DATA_URL.match(url)
    if not found or len(url) > MOST_PICTURE_CHARACTERS:
        return None
    try:
        return base64.b64decode(url[found.end() :], validate=False)
    except (ValueError, binascii.Error):
        return None
