"""Windowseat's own export of an account: a file for each conversation, with all versions and the steps of replies.

Left behind is what belongs to requests that were made there: their costs and records, passages, ratings, summaries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .imported import (
    EMPTY,
    FAILED,
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
from .openai_format import read_steps

FORM = "windowseat-conversation-1"  # of the file of one conversation, which is read back as a whole
BEGINNING = f'{{"form": "{FORM}"'.encode()
OWN = {"follows", "shown", "position", "step_of"}
ENDED = {"complete", "stopped", "interrupted", "failed"}
MARKS = ("pinned", "excluded", "never_recalled")
NOT_READ = frozenset({"requests", "grounding", "rating"})  # large, and left behind


def looks_like_windowseat(item: Mapping[str, Any]) -> bool:
    messages = as_list(item.get("messages"))
    return (
        "scenario" in item
        and "form" not in item
        and all(isinstance(each, dict) and each.keys() >= OWN for each in messages[:5])
    )


def read_windowseat(item: Mapping[str, Any]) -> ImportedConversation:
    """Return the conversation. Raises `Broken`."""
    rows = [row for row in as_list(item.get("messages")) if isinstance(row, dict)]
    if not rows:
        raise Broken("no_messages")
    conversation = ImportedConversation(
        as_id(item.get("id")),
        as_text(item.get("title")),
        read_moment(item.get("created_at")),
        read_moment(item.get("last_active_at")),
        archived=item.get("archived") is True,
        starred=item.get("starred") is True,
        columns={
            "notes": as_text(item.get("notes")),
            "kept_out_of_recall": item.get("kept_out_of_recall") is True,
            "searches_web": item.get("searches_web") is True,
        },
    )
    steps: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for row in rows:
        if reply := as_id(row.get("step_of")):
            steps.setdefault(reply, []).append((as_id(row.get("id")), row))
    plain = [row for row in rows if not row.get("step_of")]
    nodes = [Node(as_id(row.get("id")) or f"#{number}", as_id(row.get("follows")) or None, row)
             for number, row in enumerate(plain)]  # fmt: skip
    shown = [node for node in nodes if node.row.get("shown") is True]
    newest = max(shown, key=_position) if shown else None
    read_nodes(conversation, nodes, _read_message, head=newest and newest.id)
    _take_steps(conversation, steps)
    return conversation


def _position(node: Node) -> int:
    position = node.row.get("position")
    return position if isinstance(position, int) else 0


def _take_steps(conversation: ImportedConversation, steps: Mapping[str, list[tuple[str, dict[str, Any]]]]) -> None:
    conversation.found += sum(map(len, steps.values()))
    taken = 0
    for message in conversation.messages:
        if message.role == "assistant" and message.parent and message.source_id in steps:
            message.steps = read_steps(steps[message.source_id])
            taken += len(message.steps)
    left = sum(map(len, steps.values())) - taken
    conversation.left_out.update({TOOLS: left} if left else {})


def _read_message(row: Mapping[str, Any]) -> ImportedMessage | LeftOutNode:
    role, text = as_text(row.get("role")), as_text(row.get("content"))
    if role not in ("user", "assistant"):
        return LeftOutNode(unknown(role) if role else EMPTY)
    pictures = [PictureSource(key=f"picture:{key}") for key in map(as_id, as_list(row.get("pictures"))) if key]
    state = as_text(row.get("state"))
    if not text.strip() and not pictures:
        return LeftOutNode(FAILED if state in ("failed", "stopped", "interrupted") else EMPTY)
    columns: dict[str, Any] = {name: row.get(name) is True for name in MARKS}
    if role == "assistant":
        columns["state"] = state if state in ENDED else "interrupted"
        columns["error_code"] = as_text(row.get("error"))[:50]
    seconds = row.get("reasoning_seconds")
    return ImportedMessage(
        "user" if role == "user" else "assistant",
        [("", text)],
        reasoning=[as_text(row.get("reasoning"))],
        reasoning_seconds=float(seconds) if isinstance(seconds, (int, float)) and 0 <= seconds < 1e6 else None,
        model=as_text(row.get("copied_model")) or _model(row),
        created_at=read_moment(row.get("created_at")),
        pictures=pictures,
        columns=columns,
    )


def _model(row: Mapping[str, Any]) -> str:
    """Return the model of the last request for it, which the reader of the file has kept."""
    requests = as_list(row.get("requests"))
    return as_text(as_mapping(requests[-1]).get("language_model")) if requests else ""


def slim_message(row: Any) -> Any:
    """Return a message without what is not read: the records of its requests may be larger than all texts."""
    if not isinstance(row, dict) or not row.keys() >= OWN:
        return row
    requests = as_list(row.get("requests"))
    model = as_mapping(requests[-1]).get("language_model") if requests else None
    kept = {name: value for name, value in row.items() if name not in NOT_READ}
    return kept | {"requests": [{"language_model": model}]} if model else kept
