"""One message of ChatGPT's export: text with pictures and files, thoughts, a call of a tool, its result, or nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from .citations import replace_citations
from .imported import (
    CANVAS_CHANGES,
    EMPTY,
    HIDDEN,
    OTHER_FILES,
    REASONING_NOTES,
    SYSTEM,
    TOOLS,
    VOICE,
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
from .moments import read_moment
from .tool_pairs import ToolUse

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


def read_message(
    conversation: ImportedConversation, message: Mapping[str, Any]
) -> LeftOutNode | Thoughts | ToolUse | ToolResult | ImportedMessage:
    """Return what the message of a node is; *conversation* counts its parts that are not taken."""
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
