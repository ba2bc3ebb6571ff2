"""Claude's export: `chat_messages` with blocks, at times with the message that each follows.

Neither the model nor the project of a conversation is in it, and of files only their names; the text of an attachment
is. What web extensions save of claude.ai has the same form with more fields.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from .imported import (
    CANVAS_CHANGES,
    EMPTY,
    MISSING_FILES,
    TOOL_ENDS,
    TOOL_PARTS,
    Broken,
    ImportedConversation,
    ImportedMessage,
    LeftOutNode,
    as_id,
    as_list,
    as_mapping,
    as_text,
    unknown,
)
from .message_tree import Node, read_nodes
from .moments import read_moment, seconds_between
from .tool_pairs import PairedUses, ToolUse, as_arguments, as_result, pair_uses

ROLES = {"human": "user", "assistant": "assistant"}
SILENT = {"token_budget", "flag"}


def looks_like_claude(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("chat_messages"), list)


def read_claude(item: Mapping[str, Any]) -> ImportedConversation:
    """Return the conversation. Raises `Broken`."""
    rows = [row for row in as_list(item.get("chat_messages")) if isinstance(row, dict)]
    if not rows:
        raise Broken("no_messages")
    conversation = ImportedConversation(
        as_id(item.get("uuid")),
        as_text(item.get("name")),
        read_moment(item.get("created_at")),
        read_moment(item.get("updated_at")),
        starred=item.get("is_starred") is True,
    )
    model = as_text(item.get("model"))
    nodes = _nodes(rows)
    head = as_id(item.get("current_leaf_message_uuid")) or nodes[-1].id
    read_nodes(conversation, nodes, lambda row: _read_message(conversation, row, model), head=head)
    return conversation


def _nodes(rows: list[dict[str, Any]]) -> list[Node]:
    """Return the messages with their parents; without any, each follows the one before."""
    has_parents = any(as_id(row.get("parent_message_uuid")) for row in rows)
    nodes: list[Node] = []
    for number, row in enumerate(rows):
        before = nodes[-1].id if nodes else None
        parent = as_id(row.get("parent_message_uuid")) if has_parents else before
        nodes.append(Node(as_id(row.get("uuid")) or f"#{number}", parent or None, row))
    return nodes


def _read_message(
    conversation: ImportedConversation, row: Mapping[str, Any], model: str
) -> ImportedMessage | LeftOutNode:
    sender = as_text(row.get("sender"))
    if sender not in ROLES:
        return LeftOutNode(unknown(sender) if sender else EMPTY)
    blocks = [block for block in as_list(row.get("content")) if isinstance(block, dict)]
    missing: Counter[str] = Counter()
    uses: list[ToolUse] = []
    texts = [text for block in blocks if (text := _read_block(block, uses, missing))]
    if not any(block.get("type") == "text" and block.get("text") for block in blocks):
        texts.append(as_text(row.get("text")))
    texts += _read_files(row, missing)
    thoughts = [block for block in blocks if block.get("type") == "thinking"]
    text = "\n\n".join(each for each in texts if each.strip())
    paired = pair_uses(uses) if text and sender == "assistant" else PairedUses(left=uses)
    missing.update(use.kind for use in paired.left if use.kind)
    missing.update({TOOL_ENDS: paired.cut} if paired.cut else {})
    conversation.missing.update(missing)
    if not text:
        return LeftOutNode(EMPTY)
    return ImportedMessage(
        "user" if sender == "human" else "assistant",
        [("", text)],
        reasoning=[as_text(block.get("thinking")) for block in thoughts],
        reasoning_seconds=_thought_seconds(thoughts),
        model=model if sender == "assistant" else "",
        created_at=read_moment(row.get("created_at")),
        steps=paired.steps,
    )


def _read_block(block: Mapping[str, Any], uses: list[ToolUse], missing: Counter[str]) -> str:
    """Return the text of *block*; uses of tools go to *uses*, what else is not taken to *missing*."""
    kind = as_text(block.get("type"))
    if kind == "text":
        return as_text(block.get("text"))
    name = as_text(block.get("name"))
    if kind == "tool_use":
        given = as_mapping(block.get("input"))
        written = _read_written(name, given)
        left_as = "" if written else CANVAS_CHANGES if name in ("artifacts", "str_replace") else TOOL_PARTS
        uses.append(ToolUse("", name, as_arguments(given), as_id(block.get("id")), kind=left_as))
        return written
    if kind == "tool_result":
        text = as_result(block.get("content"))
        uses.append(ToolUse("", name, text, as_id(block.get("tool_use_id")), is_result=True, kind=TOOL_PARTS))
    elif kind != "thinking" and kind not in SILENT:
        missing[unknown(kind)] += 1
    return ""


def _read_written(name: str, given: Mapping[str, Any]) -> str:
    """Return the text of a file or artifact that a call wrote."""
    if name == "create_file" and as_text(given.get("file_text")):
        return _named(as_text(given.get("path")).rpartition("/")[2], as_text(given["file_text"]))
    if name == "artifacts" and as_text(given.get("content")):
        return _named(as_text(given.get("title")), as_text(given["content"]), as_text(given.get("language")))
    return ""


def _named(name: str, text: str, language: str = "") -> str:
    fence = "```" if "```" not in text else "````"
    title = " ".join(name.split())
    return "\n\n".join(filter(None, (f"**{title}**" if title else "", f"{fence}{language}\n{text}\n{fence}")))


def _read_files(row: Mapping[str, Any], missing: Counter[str]) -> list[str]:
    """Return the text of each attachment under its name, and the names of files that are not in the export."""
    texts = []
    for each in map(as_mapping, as_list(row.get("attachments"))):
        name, text = " ".join(as_text(each.get("file_name")).split()), as_text(each.get("extracted_content"))
        missing.update({} if text else {MISSING_FILES: 1})
        texts.append(f"[File: {name}]" + (f"\n\n{text}" if text else ""))
    for each in map(as_mapping, as_list(row.get("files"))):
        missing[MISSING_FILES] += 1
        texts.append(f"[File: {' '.join(as_text(each.get('file_name')).split())}]")
    return texts


def _thought_seconds(thoughts: list[dict[str, Any]]) -> float | None:
    known = [seconds_between(each.get("start_timestamp"), each.get("stop_timestamp")) for each in thoughts]
    return sum(each for each in known if each is not None) if any(each is not None for each in known) else None
