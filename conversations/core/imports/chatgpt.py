"""ChatGPT's export: a conversation is a `mapping` of nodes, of which many were never shown.

The tree is that of `parent`, and goes on at `current_node`. A reply there is a chain of nodes (thoughts, calls of
tools, their results, texts, pictures that tools made); here it is one message with its reasoning, steps and pictures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .chatgpt_message import Thoughts, ToolResult, read_message
from .imported import (
    CYCLE,
    LONE_REASONING,
    TOOL_ENDS,
    TOOLS,
    Broken,
    ImportedConversation,
    ImportedMessage,
    LeftOutNode,
    as_id,
    as_mapping,
    as_text,
)
from .message_tree import deepest_newest, join_turns, order_nodes
from .moments import read_moment
from .tool_pairs import ToolUse, pair_uses


@dataclass(frozen=True, slots=True)
class WaitingNode:
    """A thought or a use of a tool that waits for its answer, and the one *before* it."""

    node: str
    what: str | ToolUse
    before: WaitingNode | None


@dataclass(slots=True)
class NodePlace:
    """What a node leaves for those below it: the message that they follow, and the last node that waits."""

    message: str | None = None
    waiting: WaitingNode | None = None


def looks_like_chatgpt(item: Mapping[str, Any]) -> bool:
    nodes = as_mapping(item.get("mapping"))
    return bool(nodes) and all(isinstance(node, dict) for node in list(nodes.values())[:5])


def read_chatgpt(item: Mapping[str, Any]) -> ImportedConversation:
    """Return the conversation. Raises `Broken`."""
    nodes = {key: node for key, node in as_mapping(item.get("mapping")).items() if isinstance(node, dict)}
    if not nodes:
        raise Broken("no_messages")
    conversation = ImportedConversation(
        as_id(item.get("conversation_id")) or as_id(item.get("id")),
        as_text(item.get("title")),
        read_moment(item.get("create_time")),
        read_moment(item.get("update_time")),
        archived=item.get("is_archived") is True,
        starred=item.get("is_starred") is True or read_moment(item.get("pinned_time")) is not None,
    )
    parents = {key: node.get("parent") if isinstance(node.get("parent"), str) else None for key, node in nodes.items()}
    ordered, in_circle = order_nodes(parents)
    if not ordered:
        raise Broken("cycle")
    _count_left(conversation, [CYCLE for key in in_circle if nodes[key].get("message")])
    default_model = as_text(item.get("default_model_slug"))
    places = _read_nodes(conversation, nodes, parents, ordered, "" if default_model == "auto" else default_model)
    current = item.get("current_node")
    current = current if current in places else deepest_newest(parents, ordered)
    conversation.head = places[current].message if current else None
    join_turns(conversation)
    return conversation


def _count_left(conversation: ImportedConversation, kinds: list[str]) -> None:
    conversation.found += len(kinds)
    conversation.left_out.update(kinds)


def _read_nodes(
    conversation: ImportedConversation,
    nodes: Mapping[str, dict[str, Any]],
    parents: Mapping[str, str | None],
    ordered: list[str],
    default_model: str,
) -> dict[str, NodePlace]:
    places: dict[str, NodePlace] = {}
    taken: set[str] = set()
    left_as: dict[str, str] = {}  # thoughts and uses of tools that no answer has taken
    for key in ordered:
        above = places.get(parents[key] or "", NodePlace()) if parents[key] != key else NodePlace()
        message = nodes[key].get("message")
        if not isinstance(message, dict):
            places[key] = above
            continue
        conversation.found += 1
        read = read_message(conversation, message)
        if isinstance(read, ToolResult) and read.pictures:
            use = ToolUse("", read.name, read.text, is_result=True)  # its node is the part with the pictures
            above = NodePlace(above.message, WaitingNode(key, use, above.waiting))
            read = ImportedMessage(
                "assistant", [("", "")], created_at=read_moment(message.get("create_time")), pictures=read.pictures
            )
        match read:
            case LeftOutNode(kind):
                conversation.left_out[kind] += 1
                places[key] = above
            case Thoughts(text):
                left_as[key] = LONE_REASONING
                places[key] = NodePlace(above.message, WaitingNode(key, text, above.waiting))
            case ToolUse():
                left_as[key] = read.kind
                places[key] = NodePlace(above.message, WaitingNode(key, read._replace(key=key), above.waiting))
            case ToolResult(name, text):
                left_as[key] = TOOLS
                use = ToolUse(key, name, text, is_result=True)
                places[key] = NodePlace(above.message, WaitingNode(key, use, above.waiting))
            case ImportedMessage():
                read.parts = [(key, read.content)]
                read.parent = above.message
                read.model = read.model or (default_model if read.role == "assistant" else "")
                if read.role == "assistant":
                    _take_waiting(conversation, read, above.waiting, taken)
                places[key] = NodePlace(key)
                conversation.messages.append(read)
    conversation.left_out.update(kind for key, kind in left_as.items() if key not in taken)
    return places


def _take_waiting(
    conversation: ImportedConversation, reply: ImportedMessage, last: WaitingNode | None, taken: set[str]
) -> None:
    """Give *reply* the thoughts and tool uses up to *last* that no answer has yet: each is one answer's."""
    waiting: list[WaitingNode] = []
    while last is not None and last.node not in taken:
        waiting.append(last)
        last = last.before
    waiting.reverse()
    paired = pair_uses([node.what for node in waiting if isinstance(node.what, ToolUse)])
    thoughts = [node for node in waiting if isinstance(node.what, str)]
    reply.reasoning = [str(node.what) for node in thoughts]
    reply.also = [*(node.node for node in thoughts), *paired.also]
    reply.steps = paired.steps
    conversation.missing.update({TOOL_ENDS: paired.cut} if paired.cut else {})
    taken.update(reply.also, (key for key, _ in paired.steps if key))
