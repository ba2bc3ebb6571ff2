"""Open WebUI's export: rows with a `chat`, whose `history` holds the messages by their ids.

The children of an assistant's message are missing in exports of 0.11.0 to 0.11.2, so only `parentId` counts. Files are
on the other server; only pictures that are written into the message are in the export.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .imported import (
    EMPTY,
    FAILED,
    MISSING_FILES,
    SYSTEM,
    TOOL_ENDS,
    TOOL_PARTS,
    TOOLS,
    Broken,
    ImportedConversation,
    ImportedMessage,
    LeftOutNode,
    PictureSource,
    as_id,
    as_list,
    as_mapping,
    as_text,
    unknown,
)
from .message_tree import Node, read_nodes
from .moments import read_moment
from .tool_pairs import PairedUses, ToolUse, as_arguments, as_result, pair_uses

FOLDED = re.compile(r'<details type="(?P<type>\w+)"')
ATTRIBUTE = re.compile(r'(?<![\w-])([\w-]{1,40})="([^"]*)"')
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


def _read_message(conversation: ImportedConversation, row: Mapping[str, Any]) -> ImportedMessage | LeftOutNode:
    role = as_text(row.get("role"))
    if role in ("system", "tool"):
        return LeftOutNode(SYSTEM if role == "system" else TOOLS)
    if role not in ("user", "assistant"):
        return LeftOutNode(unknown(role) if role else EMPTY)
    text, reasoning, folded = read_details(as_text(row.get("content")))
    uses = list(_listed_uses(as_list(row.get("output")))) or folded
    pictures = _read_files(conversation, row)
    paired = pair_uses(uses) if role == "assistant" and (text.strip() or pictures) else PairedUses(left=uses)
    conversation.missing.update(use.kind for use in paired.left)
    conversation.missing.update({TOOL_ENDS: paired.cut} if paired.cut else {})
    if not text.strip() and not pictures:
        return LeftOutNode(FAILED if row.get("error") else EMPTY)
    return ImportedMessage(
        "user" if role == "user" else "assistant",
        [("", text)],
        reasoning=reasoning,
        model=as_text(row.get("model")) if role == "assistant" else "",
        created_at=read_moment(row.get("timestamp")),
        pictures=pictures,
        steps=paired.steps,
    )


def _listed_uses(items: list[Any]) -> Iterator[ToolUse]:
    """Yield the calls of tools and their results that newer exports list beside the text, as the Responses API does."""
    for item in map(as_mapping, items):
        name, key = as_text(item.get("name")), as_id(item.get("call_id"))
        if item.get("type") == "function_call":
            yield ToolUse("", name, as_arguments(item.get("arguments")), key, kind=TOOL_PARTS)
        elif item.get("type") == "function_call_output":
            yield ToolUse("", name, as_result(item.get("output")), key, is_result=True, kind=TOOL_PARTS)


def read_details(content: str) -> tuple[str, list[str], list[ToolUse]]:
    """Return *content* without its folded parts, and of those the reasoning, and calls of tools with their results."""
    reasoning: list[str] = []
    kept: list[str] = []
    uses: list[ToolUse] = []
    at = 0
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
            uses += _folded_uses(found["type"], content[found.end() : inner - 1], content[inner:end])
        else:
            kept.append(content[found.start() : at])
    return "".join([*kept, content[at:]]), reasoning, uses


def _folded_uses(kind: str, head: str, body: str) -> Iterator[ToolUse]:
    """Yield the call of one folded part, and its result: an attribute, or in newer exports the text below its summary.

    Of a piece of code that was run, the text is the code.
    """
    about = {name: html.unescape(value) for name, value in ATTRIBUTE.findall(head)}
    text = html.unescape(_without_summaries(body)).strip()
    is_code = kind == "code_interpreter"
    key = as_id(about.get("id"))
    arguments = text if is_code else about.get("arguments", "")
    result = about.get("output") if is_code else about.get("result", text or None)
    yield ToolUse("", about.get("name", kind), arguments, key, kind=TOOL_PARTS)
    if result is not None and about.get("done") != "false":
        yield ToolUse("", about.get("name", kind), result, key, is_result=True)


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
