"""Conversations from a file in OpenAI's message format: `[{"messages": [{"role", "content"}, …]}, …]`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROLES = ("system", "user", "assistant")


class BadFile(Exception):
    """The file can't be replayed; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message: *role* is user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was said, oldest first, under *system_prompt*; it may be empty."""

    messages: tuple[Said, ...]
    system_prompt: str = ""


def read_conversations(path: Path) -> list[Conversation]:
    """Return the conversations of a file. Raises `BadFile`."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadFile(f"{path} can't be read: {error.strerror}") from error
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise BadFile(f"{path} is not JSON in UTF-8: {error}") from error
    return parse_conversations(stored)


def parse_conversations(stored: Any) -> list[Conversation]:
    """Return the conversations of a file's JSON. Raises `BadFile`."""
    if not isinstance(stored, list):
        raise BadFile(f"the file must hold a list of conversations, not {_kind(stored)}")
    conversations = [_conversation(each, f"conversation {number}") for number, each in enumerate(stored, start=1)]
    if not any(said.role == "user" for conversation in conversations for said in conversation.messages):
        raise BadFile("there is no user message in the file, so there is nothing to ask")
    return conversations


def _conversation(stored: Any, where: str) -> Conversation:
    if not isinstance(stored, dict) or not isinstance(messages := stored.get("messages"), list):
        raise BadFile(f'{where} must be an object with a list of "messages"')
    if not messages:
        raise BadFile(f"{where} has no messages")
    said = list(_messages(messages, where))
    system = [number for number, message in enumerate(said, start=1) if message.role == "system"]
    if len(system) > 1:
        raise BadFile(f"{where} has {len(system)} system messages, and one is the most")
    if system not in ([], [1]):
        raise BadFile(f"{where}: the system message must come first, here it is message {system[0]}")
    return Conversation(tuple(said[len(system) :]), said[0].content if system else "")


def _messages(messages: list[Any], where: str) -> Iterator[Said]:
    for number, message in enumerate(messages, start=1):
        place = f"{where}, message {number}"
        if not isinstance(message, dict):
            raise BadFile(f"{place} must be an object, not {_kind(message)}")
        if (role := message.get("role")) not in ROLES:
            raise BadFile(f"{place} has the role {role!r}; known are {', '.join(ROLES)}")
        yield Said(role, _content(message.get("content"), place))


def _content(content: Any, place: str) -> str:
    """Return the text, or the texts of a list of text parts as one."""
    if isinstance(content, list) and content:
        content = "".join(_part(part, place) for part in content)
    if not isinstance(content, str):
        raise BadFile(f"{place}: its content must be text, not {_kind(content)}")
    if not content:
        raise BadFile(f"{place}: its content is empty")
    return content


def _part(part: Any, place: str) -> str:
    if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
        raise BadFile(f"{place}: a part of its content is not text, and only text can be replayed")
    return part["text"]


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
