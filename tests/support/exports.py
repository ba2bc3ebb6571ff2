"""Made-up exports of other chat programs, as plain values and as files: no real one is in this repository."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

from conversations.core.imports.imported import BrokenConversation, ImportedConversation
from conversations.core.imports.json_conversations import FoundConversation
from conversations.core.imports.read_export import Export, ExportFile, FailedFile

CITE = "\ue200cite\ue202turn0search3\ue201"


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def as_zip(files: Mapping[str, Any]) -> bytes:
    """Pack *files*: bytes as they are, everything else as JSON."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content if isinstance(content, bytes) else as_json(content))
    return packed.getvalue()


def export_of(*contents: bytes) -> Export:
    return Export([_file(f"export-{number}", content) for number, content in enumerate(contents)])


def _file(name: str, content: bytes) -> ExportFile:
    return ExportFile(name, len(content), lambda: io.BytesIO(content))


def read_all(*contents: bytes) -> list[ImportedConversation | BrokenConversation | FailedFile]:
    return [each.conversation if isinstance(each, FoundConversation) else each for each in export_of(*contents).read()]


def read_one(content: bytes) -> ImportedConversation:
    """Return the only conversation of a file."""
    [found] = read_all(content)
    assert isinstance(found, ImportedConversation), found
    return found


# ChatGPT


def node(key: str, parent: str | None, role: str, content: Any, **message: Any) -> dict[str, Any]:
    """Return a node of ChatGPT's mapping: *content* is a text, or the content as it stands there."""
    said = {"content_type": "text", "parts": [content]} if isinstance(content, str) else content
    about = {"id": key, "author": {"role": role}, "create_time": 1761000000.5, "content": said, **message}
    return {"id": key, "parent": parent, "children": [], "message": about}


ROOT = {"id": "root", "parent": None, "children": [], "message": None}


def chatgpt(key: str, nodes: Iterable[dict[str, Any]], current: str | None = None, **about: Any) -> dict[str, Any]:
    mapping = {"root": ROOT} | {each["id"]: each for each in nodes}
    times = {"create_time": 1761000000.25, "update_time": 1761000090.5}
    return {
        "id": key,
        "conversation_id": key,
        "title": key,
        **times,
        "mapping": mapping,
        "current_node": current,
        **about,
    }


def chatgpt_line(key: str, *texts: str, **about: Any) -> dict[str, Any]:
    """Return a conversation of ChatGPT that is one line: question, reply, question …"""
    nodes = [
        node(f"n{number}", f"n{number - 1}" if number else "root", "assistant" if number % 2 else "user", text)
        for number, text in enumerate(texts)
    ]
    return chatgpt(key, nodes, nodes[-1]["id"], **about)


def odd_chatgpt(key: str = "c-odd") -> dict[str, Any]:
    """Return a conversation with each oddity that is known of ChatGPT's export: 14 messages."""
    hidden = {"is_visually_hidden_from_conversation": True, "is_user_system_message": True}
    context = {
        "content_type": "user_editable_context",
        "user_profile": "Lives by the sea.",
        "user_instructions": "Brief.",
    }
    pointer = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_00ab", "size_bytes": 12}
    voice = {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://file_voice"}
    picture = {"content_type": "multimodal_text", "parts": ["Text before the picture", pointer, voice, "and after"]}
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "Look", "content": "A small picture."}]}
    call = {"content_type": "code", "language": "json", "text": '{"q":"lighthouse"}'}
    canvas = json.dumps({"name": "Plan", "type": "document", "content": "# The plan"})
    reference = {"matched_text": CITE, "type": "grouped_webpages", "alt": "([Sea](https://sea.example))"}
    final = {"model_slug": "gpt-x", "content_references": [reference]}
    widget = {"content_type": "super_widget", "widget": {"a": 1}}
    attached = {"attachments": [{"id": "file-Zz9", "name": "plan.pdf", "size": 3}]}
    nodes = [
        node("n0", "root", "system", {"content_type": "text", "parts": [""]}),
        node("n1", "n0", "user", context, weight=0, metadata=hidden),
        node("n2", "n1", "user", picture),
        node("n3", "n2", "assistant", thoughts, metadata={"model_slug": "gpt-x-thinking"}),
        node("n4", "n3", "assistant", call, recipient="web.run"),
        node("n5", "n4", "tool", {"content_type": "system_error", "name": "X", "text": "robots"}, metadata=None),
        node("n6", "n5", "assistant", {"content_type": "reasoning_recap", "content": "Thought for 2 seconds"}),
        node("n7", "n6", "assistant", f"It is a lighthouse. {CITE}", metadata=final),
        node("n8", "n7", "user", "old wording"),
        node("n9", "n7", "user", "new wording", metadata=attached),
        node("n10", "n9", "assistant", canvas, recipient="canmore.create_textdoc"),
        node("n11", "n10", "assistant", '{"updates":[]}', recipient="canmore.update_textdoc"),
        node("n12", "n11", "assistant", widget),
        node("n13", "n12", "user", {"content_type": "text", "parts": None}),
    ]
    del nodes[2]["children"], nodes[3]["message"]["create_time"]
    about = {"title": None, "is_archived": True, "default_model_slug": "auto", "voice": {"x": 1}}
    return chatgpt(key, nodes, "n13", **about)


def chatgpt_files(*conversations: dict[str, Any], picture: bytes = b"") -> dict[str, Any]:
    """Return what is in a ZIP of 2026: shards, a manifest, `.dat` files and the map of their names."""
    shards = {f"conversations-{number:03}.json": [each] for number, each in enumerate(conversations)}
    beside = {
        "export_manifest.json": {"files": []},
        "user.json": {"id": "u"},
        "shared_conversations.json": [{"id": "s"}],
    }
    assets = {"file_00ab.dat": picture, "conversation_asset_file_names.json": {"file_00ab.dat": "sea.png"}}
    return {**beside, **shards, **(assets if picture else {})}


# Claude


def claude(key: str = "cv1", messages: list[dict[str, Any]] | None = None, **about: Any) -> dict[str, Any]:
    times = {"created_at": "2026-03-01T10:00:00.123456Z", "updated_at": "2026-03-01T10:02:00+00:00"}
    return {
        "uuid": key,
        "name": "Notes",
        "summary": "",
        **times,
        "chat_messages": messages or claude_messages(),
        **about,
    }


def claude_messages() -> list[dict[str, Any]]:
    """Return three messages: a question with files, a reply with blocks of all kinds, and another version of it."""
    created = {"path": "/mnt/user-data/outputs/a.md", "file_text": "# A"}
    times = {"start_timestamp": "2026-03-01T10:00:01Z", "stop_timestamp": "2026-03-01T10:00:03Z"}
    attachment = {"file_name": "note.txt", "file_size": 5, "file_type": "txt", "extracted_content": "hello"}
    at = "2026-03-01T10:00:00.5Z"
    return [
        {"uuid": "m1", "sender": "human", "text": "", "content": [{"type": "text", "text": "Read my note"}],
         "created_at": at, "attachments": [attachment], "files": [{"file_name": "photo.png"}],
         "parent_message_uuid": "00000000-0000-4000-8000-000000000000"},
        {"uuid": "m2", "sender": "assistant", "text": "placeholder text", "created_at": at, "attachments": [],
         "files": [], "parent_message_uuid": "m1", "content": [
             {"type": "thinking", "thinking": "short", "summaries": [{"summary": "s"}], **times},
             {"type": "tool_use", "id": None, "name": "create_file", "input": created},
             {"type": "tool_result", "tool_use_id": None, "is_error": False, "content": "ok"},
             {"type": "token_budget"}, {"type": "hologram"}, {"type": "text", "text": "Done."}]},
        {"uuid": "m3", "sender": "assistant", "text": "Second try", "content": [], "parent_message_uuid": "m1",
         "created_at": "2026-03-01T10:01:00Z"},
    ]  # fmt: skip


# Open WebUI and LibreChat


def open_webui(key: str = "w1", **about: Any) -> dict[str, Any]:
    """Return a row with two models' replies to one question, one failed, and children that are not listed."""
    picture = {"type": "image", "url": "data:image/png;base64,AAAA"}
    thought = '<details type="reasoning" done="true"><summary>Thought</summary>\n&gt; x</details>\nHello'
    messages = {
        "m1": {"id": "m1", "parentId": None, "childrenIds": ["m2", "m3"], "role": "user", "content": "Hi",
               "timestamp": 1761000000, "files": [picture, {"type": "file", "url": "/api/v1/files/7"}]},
        "m2": {"id": "m2", "parentId": "m1", "childrenIds": [], "role": "assistant", "model": "a", "content": thought},
        "m3": {"id": "m3", "parentId": "m1", "role": "assistant", "content": "", "error": {"content": "boom"}},
        "m4": {"id": "m4", "parentId": "m2", "childrenIds": [], "role": "user", "content": "and more"},
    }  # fmt: skip
    chat = {"models": ["a", "b"], "timestamp": 1761000000000, "history": {"currentId": "m4", "messages": messages}}
    times = {"created_at": 1761000000, "updated_at": 1761000009}
    return {"id": key, "title": "T", "archived": False, "pinned": True, **times, "chat": chat, **about}


def librechat(key: str = "l1", *, nested: bool = False) -> dict[str, Any]:
    """Return a file of LibreChat: two first messages, and a reply that comes before its question."""
    empty = "00000000-0000-0000-0000-000000000000"
    content = [
        {"type": "think", "think": "hm"},
        {"type": "text", "text": {"value": "Yes."}},
        {"type": "tool_call", "tool_call": {"name": "x"}},
    ]
    question = {"messageId": "q1", "parentMessageId": empty, "text": "Well?", "isCreatedByUser": True,
                "createdAt": "2026-01-01T10:00:00.000Z"}  # fmt: skip
    reply = {"messageId": "r1", "parentMessageId": "q1", "content": content, "isCreatedByUser": False, "model": "big",
             "createdAt": "2026-01-01T10:00:05.000Z", "unfinished": True}  # fmt: skip
    other = {**question, "messageId": "q2", "text": "Or so?"}
    about = {"conversationId": key, "endpoint": "x", "title": "Lines", "exportAt": "10:00:00", "options": {}}
    if nested:
        return {**about, "recursive": True, "messagesTree": [{**question, "children": [reply]}, other]}
    return {**about, "recursive": False, "messages": [reply, question, other]}
