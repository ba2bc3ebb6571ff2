"""LibreChat's export: one conversation in a file, its messages flat or nested in each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from .imported import (
    EMPTY,
    FAILED,
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
from .moments import read_moment
from .tool_pairs import PairedUses, ToolUse, as_arguments, as_result, pair_uses


def looks_like_librechat(item: Mapping[str, Any]) -> bool:
    lists = (item.get("messages"), item.get("messagesTree"))
    return isinstance(item.get("conversationId"), str) and any(isinstance(each, list) for each in lists)


def read_librechat(item: Mapping[str, Any]) -> ImportedConversation:
    """Return the conversation. Raises `Broken`."""
    nodes = _nodes(as_list(item.get("messages")) or as_list(item.get("messagesTree")))
    if not nodes:
        raise Broken("no_messages")
    moments = sorted(filter(None, (read_moment(node.row.get("createdAt")) for node in nodes)))
    conversation = ImportedConversation(
        as_id(item.get("conversationId")),
        as_text(item.get("title")),
        moments[0] if moments else None,
        moments[-1] if moments else None,
    )
    model = as_text(as_mapping(item.get("options")).get("model"))
    read_nodes(conversation, nodes, lambda row: _read_message(conversation, row, model), head=_newest(nodes))
    return conversation


def _nodes(rows: list[Any]) -> list[Node]:
    """Return the messages, each with its parent, however deep they are nested."""
    nodes: list[Node] = []
    waiting: list[tuple[Any, str | None]] = [(row, None) for row in reversed(rows)]
    while waiting:
        row, above = waiting.pop()
        if not isinstance(row, dict):
            continue
        key = as_id(row.get("messageId")) or f"#{len(nodes)}"
        nodes.append(Node(key, above or as_id(row.get("parentMessageId")) or None, row))
        waiting += [(child, key) for child in reversed(as_list(row.get("children")))]
    return nodes


def _newest(nodes: list[Node]) -> str | None:
    """Return the id of the message that came last: the export does not say which was shown."""
    moments = [(read_moment(node.row.get("createdAt")), number) for number, node in enumerate(nodes)]
    dated = [(moment, number) for moment, number in moments if moment]
    return nodes[max(dated)[1]].id if dated else nodes[-1].id


def _read_message(
    conversation: ImportedConversation, row: Mapping[str, Any], model: str
) -> ImportedMessage | LeftOutNode:
    missing: Counter[str] = Counter()
    texts, reasoning = [], []
    uses: list[ToolUse] = []
    for part in map(as_mapping, as_list(row.get("content"))):
        kind = as_text(part.get("type"))
        if kind == "text":
            texts.append(_value(part.get("text")))
        elif kind == "think":
            reasoning.append(_value(part.get("think")))
        elif kind == "tool_call":
            uses += _uses(as_mapping(part.get("tool_call")))
        elif kind in ("image_file", "image_url"):
            missing[MISSING_FILES] += 1
        elif kind != "error":
            missing[unknown(kind)] += 1
    missing.update({MISSING_FILES: len(files)} if (files := as_list(row.get("files"))) else {})
    text = "\n\n".join(filter(None, texts)) or as_text(row.get("text"))
    is_user = row.get("isCreatedByUser") is True
    paired = pair_uses(uses) if text.strip() and not is_user and not row.get("error") else PairedUses(left=uses)
    missing.update(use.kind for use in paired.left)
    missing.update({TOOL_ENDS: paired.cut} if paired.cut else {})
    conversation.missing.update(missing)
    if row.get("error") is True:
        return LeftOutNode(FAILED)
    if not text.strip():
        return LeftOutNode(EMPTY)
    return ImportedMessage(
        "user" if is_user else "assistant",
        [("", text)],
        reasoning=reasoning,
        model="" if is_user else as_text(row.get("model")) or model,
        created_at=read_moment(row.get("createdAt")),
        steps=paired.steps,
        columns={"state": "interrupted"} if row.get("unfinished") is True and not is_user else {},
    )


def _uses(call: Mapping[str, Any]) -> Iterator[ToolUse]:
    """Yield the call, and its result if it has one: that of a tool that was stopped has none."""
    name, key = as_text(call.get("name")), as_id(call.get("id"))
    yield ToolUse("", name, as_arguments(call.get("args")), key, kind=TOOL_PARTS)
    if call.get("output") is not None:
        yield ToolUse("", name, as_result(call.get("output")), key, is_result=True)


def _value(text: object) -> str:
    return as_text(text) or as_text(as_mapping(text).get("value"))
