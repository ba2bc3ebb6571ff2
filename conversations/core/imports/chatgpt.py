"""ChatGPT's export: a conversation is a `mapping` of nodes, of which many were never shown.

The tree is that of `parent`, and goes on at `current_node`. A reply there is a chain of nodes (thoughts, calls of
tools, their results, texts, pictures that tools made); here it is one message with its reasoning, steps and pictures.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from .citations import replace_citations
from .imported import (
    CANVAS_CHANGES,
    CYCLE,
    EMPTY,
    HIDDEN,
    LONE_REASONING,
    OTHER_FILES,
    REASONING_NOTES,
    SYSTEM,
    TOOL_ENDS,
    TOOLS,
    VOICE,
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
from .message_tree import deepest_newest, join_turns, order_nodes
from .moments import read_moment
from .tool_pairs import ToolUse, pair_uses

RESULT_TEXTS = ("title", "url", "name", "result", "summary", "text")
CONTEXT_TYPES = {"user_editable_context", "model_editable_context"}
TOOL_TYPES = {
    *("execution_output", "tether_browsing_display", "tether_quote", "sonic_webpage", "system_error"),
    "computer_output",
}
PICTURES = {"image/png", "image/jpeg", "image/webp", "image/gif", "image/heic", "image/heif"}
VOICE_PARTS = {"audio_asset_pointer", "real_time_user_audio_video_asset_pointer"}
SCHEMES = ("file-service://", "sediment://")
LONGEST_ALT_TEXT = 500


class Thoughts(NamedTuple):
    text: str


class ToolResult(NamedTuple):
    """What the tool *name* answered; *pictures* are those that it made, which are part of the reply."""

    name: str
    text: str
    pictures: list[PictureSource]


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
        read = _read_message(conversation, message)
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


def _read_message(
    conversation: ImportedConversation, message: Mapping[str, Any]
) -> LeftOutNode | Thoughts | ToolUse | ToolResult | ImportedMessage:
    author, metadata = as_mapping(message.get("author")), as_mapping(message.get("metadata"))
    content, role = as_mapping(message.get("content")), author.get("role")
    kind = as_text(content.get("content_type"))
    if kind in CONTEXT_TYPES or metadata.get("is_user_system_message"):
        return LeftOutNode(HIDDEN)
    if role == "system":
        return LeftOutNode(SYSTEM)
    if role == "tool" or kind in TOOL_TYPES:
        return _tool_result(as_text(author.get("name")), content, metadata)
    if metadata.get("is_visually_hidden_from_conversation") or message.get("weight") == 0:
        return LeftOutNode(HIDDEN)
    if role not in ("user", "assistant"):
        return LeftOutNode(unknown(role) if role else EMPTY)
    if kind == "thoughts":
        return Thoughts(_thoughts(content))
    if kind == "reasoning_recap":
        return LeftOutNode(REASONING_NOTES)
    return _visible(conversation, message, role, kind, content, metadata)


def _tool_result(name: str, content: Mapping[str, Any], metadata: Mapping[str, Any]) -> ToolResult:
    parts = as_list(content.get("parts"))
    texts = [as_text(content.get(each)) for each in RESULT_TEXTS]
    texts += [part if isinstance(part, str) else as_text(as_mapping(part).get("text")) for part in parts]
    pictures = [
        _picture(part)
        for part in map(as_mapping, parts)
        if part.get("content_type") == "image_asset_pointer" and part.get("asset_pointer")
    ]
    ran = as_list(as_mapping(metadata.get("aggregate_result")).get("messages"))  # of code that was run
    pictures += [
        PictureSource(key=file_id(shown["image_url"]))
        for shown in map(as_mapping, ran)
        if shown.get("message_type") == "image" and shown.get("image_url")
    ]
    return ToolResult(name, "\n".join(filter(None, texts)), pictures)


def _thoughts(content: Mapping[str, Any]) -> str:
    thoughts = map(as_mapping, as_list(content.get("thoughts")))
    texts = (
        "\n\n".join(filter(None, (f"**{title}**" if (title := as_text(each.get("summary")).strip()) else "",
                                  as_text(each.get("content")))))
        for each in thoughts
    )  # fmt: skip
    return "\n\n".join(filter(None, texts))


def _visible(
    conversation: ImportedConversation,
    message: Mapping[str, Any],
    role: Any,
    kind: str,
    content: Mapping[str, Any],
    metadata: Mapping[str, Any],
) -> LeftOutNode | ToolUse | ImportedMessage:
    texts: list[str]
    pictures: list[PictureSource] = []
    missing: dict[str, int] = {}
    recipient = as_text(message.get("recipient")) or "all"
    if recipient != "all":
        written = _canvas(content) if recipient == "canmore.create_textdoc" else None
        if written is None:
            asked = as_text(content.get("text")) or "".join(
                part for part in as_list(content.get("parts")) if isinstance(part, str)
            )
            left_as = CANVAS_CHANGES if recipient.startswith("canmore.") else TOOLS
            return ToolUse("", recipient, asked, kind=left_as)
        texts = [written]
    elif kind in ("text", "multimodal_text", "code", ""):
        texts, pictures, missing = _parts(content, kind, role)
    else:
        return LeftOutNode(unknown(kind))
    text = replace_citations("\n".join(texts), metadata)
    names = _attached(metadata, pictures)
    text = "\n\n".join(filter(None, [text if text.strip() else "", *(f"[File: {name}]" for name in names)]))
    if not text and not pictures:
        conversation.missing.update(missing)
        return LeftOutNode(EMPTY)
    conversation.missing.update(missing)
    conversation.missing.update({OTHER_FILES: len(names)} if names else {})
    return ImportedMessage(
        role,
        [("", text)],
        model=as_text(metadata.get("model_slug")),
        created_at=read_moment(message.get("create_time")),
        pictures=pictures,
    )


def _parts(content: Mapping[str, Any], kind: str, role: str) -> tuple[list[str], list[PictureSource], dict[str, int]]:
    """Return the texts in their order, the pictures in theirs, and how many parts of which kind are neither."""
    texts: list[str] = []
    pictures: list[PictureSource] = []
    missing: dict[str, int] = {}
    if isinstance(content.get("text"), str):
        code = content["text"]
        texts.append(f"```{as_text(content.get('language'))}\n{code}\n```" if kind == "code" and code.strip() else code)
    for part in as_list(content.get("parts")):
        if isinstance(part, str):
            texts.append(part)
            continue
        about = as_mapping(part)
        if about.get("content_type") == "image_asset_pointer":
            pictures.append(_picture(about))
        elif isinstance(about.get("text"), str):  # also the words of what was spoken
            texts.append(about["text"])
        elif part is not None:
            named = as_text(about.get("content_type"))
            kind_left = VOICE if named in VOICE_PARTS else unknown(named or type(part).__name__)
            missing[kind_left] = missing.get(kind_left, 0) + 1
    return texts, pictures, missing


def _picture(part: Mapping[str, Any]) -> PictureSource:
    """Return the picture; what it was to show is known of one that was made there."""
    asked = as_text(as_mapping(as_mapping(part.get("metadata")).get("dalle")).get("prompt"))
    return PictureSource(key=file_id(part.get("asset_pointer")), alt_text=" ".join(asked.split())[:LONGEST_ALT_TEXT])


def file_id(pointer: object) -> str:
    """Return the id of a file from what points at it."""
    text = as_text(pointer)
    for scheme in SCHEMES:
        text = text.removeprefix(scheme)
    return text.split("#", 1)[0].split("?", 1)[0]


def _attached(metadata: Mapping[str, Any], pictures: list[PictureSource]) -> list[str]:
    """Return the names of attached files that are no pictures, and give pictures their names."""
    names = []
    by_key = {picture.key: index for index, picture in enumerate(pictures)}
    for each in map(as_mapping, as_list(metadata.get("attachments"))):
        key, name = as_id(each.get("id")), " ".join(as_text(each.get("name")).split())[:200]
        if key in by_key:
            pictures[by_key[key]] = replace(pictures[by_key[key]], name=name)
        elif as_text(each.get("mime_type")) not in PICTURES or not pictures:
            names.append(name or key)
    return names


def _canvas(content: Mapping[str, Any]) -> str | None:
    """Return the text of a canvas that was created, under its name; None if it says something else."""
    written = "".join(part for part in as_list(content.get("parts")) if isinstance(part, str)) or content.get("text")
    try:
        canvas = as_mapping(json.loads(as_text(written)))
    except (ValueError, RecursionError):
        return None
    text, kind = as_text(canvas.get("content")), as_text(canvas.get("type"))
    if not text:
        return None
    name = " ".join(as_text(canvas.get("name")).split())
    if kind.startswith("code/"):
        text = f"```{kind.removeprefix('code/')}\n{text}\n```"
    return "\n\n".join(filter(None, (f"**{name}**" if name else "", text)))
