"""The tree of an export's nodes, by their parents alone: order, cycles, and replies that are one turn.

Lists of children are incomplete in exports of ChatGPT and Open WebUI, so they are not asked for more than an order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .imported import CYCLE, DUPLICATE, Broken, ImportedConversation, ImportedMessage, LeftOutNode


def order_nodes(parents: Mapping[str, str | None]) -> tuple[list[str], list[str]]:
    """Return the nodes with each after its parent, and those that no root leads to: they follow each other in a circle.

    A parent that is not in *parents*, and a node that is its own, make a root.
    """
    children: dict[str | None, list[str]] = {}
    for node, parent in parents.items():
        children.setdefault(parent if parent in parents and parent != node else None, []).append(node)
    ordered: list[str] = []
    waiting = children.pop(None, [])[::-1]
    while waiting:
        node = waiting.pop()
        ordered.append(node)
        waiting += children.pop(node, [])[::-1]
    reached = set(ordered)
    return ordered, [node for node in parents if node not in reached]


class Node(NamedTuple):
    """A message of an export that lists them: its id, that of the one before it, and what it says."""

    id: str
    parent: str | None
    row: Mapping[str, Any]


def read_nodes(
    conversation: ImportedConversation,
    nodes: Sequence[Node],
    read: Callable[[Mapping[str, Any]], ImportedMessage | LeftOutNode],
    *,
    head: str | None = None,
) -> None:
    """Fill *conversation* with what *read* makes of each node, under the nearest one above that is visible.

    *head* is the node that was shown last; without it the last leaf is. Raises `Broken` if all follow each other.
    """
    unique = {node.id: node for node in reversed(nodes)}
    conversation.found += len(nodes)
    conversation.left_out.update({DUPLICATE: len(nodes) - len(unique)} if len(nodes) > len(unique) else {})
    parents = {node.id: node.parent for node in nodes if unique[node.id] is node}
    ordered, in_circle = order_nodes(parents)
    if parents and not ordered:
        raise Broken("cycle")
    conversation.left_out.update({CYCLE: len(in_circle)} if in_circle else {})
    visible: dict[str, str | None] = {}
    for key in ordered:
        parent = parents[key]
        above = visible.get(parent) if parent and parent != key else None
        message = read(unique[key].row)
        if isinstance(message, LeftOutNode):
            conversation.left_out[message.kind] += 1
            visible[key] = above
            continue
        message.parts = [(key, message.content)]
        message.parent = above
        visible[key] = key
        conversation.messages.append(message)
    head = head if head in visible else deepest_newest(parents, ordered)
    conversation.head = visible[head] if head else None


def deepest_newest(parents: Mapping[str, str | None], ordered: Sequence[str]) -> str | None:
    """Return the last leaf of the tree: where a conversation goes on if its export does not say so."""
    with_children = {parent for parent in parents.values() if parent}
    return next((node for node in reversed(ordered) if node not in with_children), ordered[-1] if ordered else None)


def join_turns(conversation: ImportedConversation) -> None:
    """Make consecutive messages of the assistant one reply where no version parts them, as a turn is one here."""
    children: dict[str | None, list[ImportedMessage]] = {}
    for message in conversation.messages:
        children.setdefault(message.parent, []).append(message)
    joined: dict[str, ImportedMessage] = {}  # source id → the reply that it is part of
    kept: list[ImportedMessage] = []
    for message in conversation.messages:
        before = joined.get(message.parent or "")
        alone = len(children[message.parent]) == 1
        if before and alone and message.role == before.role == "assistant":
            _append(before, message)
            joined[message.source_id] = before
            continue
        if before:
            message.parent = before.source_id
        joined[message.source_id] = message
        kept.append(message)
    conversation.messages = kept
    if conversation.head in joined:
        conversation.head = joined[conversation.head].source_id


def _append(reply: ImportedMessage, more: ImportedMessage) -> None:
    reply.parts += more.parts
    reply.also += more.also
    reply.reasoning += more.reasoning
    reply.pictures += more.pictures
    reply.steps += more.steps
    reply.model = more.model or reply.model


def path_to(messages: Iterable[ImportedMessage], head: str | None) -> list[str]:
    """Return the source ids from the first message to *head*."""
    parents = {message.source_id: message.parent for message in messages}
    path: list[str] = []
    while head is not None and head in parents:
        path.append(head)
        head = parents.pop(head)
    return path[::-1]
