"""An imported conversation, as plain values: what each format is read as, before anything is stored.

Messages come with their parent before them. What is not taken is counted by its kind, so that for every conversation
*found* = the nodes of its messages + the sum of *left_out*.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from conversations.core.prompt.messages import PromptMessage

# Kinds of messages that are left out, and of parts of messages that are taken.
HIDDEN, SYSTEM, TOOLS, EMPTY = "hidden", "system", "tools", "empty"
UNKNOWN, LONE_REASONING, REASONING_NOTES = "unknown", "lone_reasoning", "reasoning_notes"
CANVAS_CHANGES, CYCLE, DUPLICATE, FAILED, INVALID = "canvas_changes", "cycle", "duplicate", "failed", "invalid"
MISSING_FILES, OTHER_FILES, VOICE = "missing_files", "other_files", "voice"
UNREADABLE_PICTURES, NO_ROOM, TOOL_PARTS = "unreadable_pictures", "no_room", "tool_parts"
ENDS, TOOL_ENDS = "ends", "tool_ends"
CUT = "\n\n[…]"
MOST_TYPE_CHARACTERS = 40
MOST_ID_CHARACTERS = 100

Role = Literal["user", "assistant"]


def unknown(kind: object) -> str:
    """Return the kind of what has an unknown type, with its name."""
    named = "".join(sign for sign in str(kind)[:MOST_TYPE_CHARACTERS] if sign.isprintable())
    return f"{UNKNOWN}:{named}"  # it is stored with the report


@dataclass(frozen=True, slots=True)
class PictureSource:
    """Where a picture of a message is: *key* in the export's files, or its *content* itself.

    *alt_text* is what it was to show, of a picture that the other program made.
    """

    name: str = ""
    key: str = ""
    content: bytes | None = None
    alt_text: str = ""


class LeftOutNode(NamedTuple):
    """A node that becomes no message: *kind* says why."""

    kind: str


@dataclass(slots=True)
class ImportedMessage:
    """A message that is visible. *parts* are its texts, each with the id of the node that it came from.

    *also* are the ids of nodes that are part of it without a text, such as those of its reasoning. *steps* are the
    tool turns before a reply: calls and results, each with the id of its node, blank where it is a part of another
    one. *columns* are other columns of ours.
    """

    role: Role
    parts: list[tuple[str, str]]
    parent: str | None = None
    also: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    reasoning_seconds: float | None = None
    model: str = ""
    created_at: dt.datetime | None = None
    pictures: list[PictureSource] = field(default_factory=list)
    steps: list[tuple[str, PromptMessage]] = field(default_factory=list)
    columns: Mapping[str, Any] = field(default_factory=dict)

    @property
    def source_id(self) -> str:
        return self.parts[0][0]

    @property
    def source_ids(self) -> list[str]:
        of_steps = [source_id for source_id, _ in self.steps if source_id]
        return [source_id for source_id, _ in self.parts] + self.also + of_steps

    @property
    def characters(self) -> int:
        texts = [self.model, *self.reasoning, *self.also, *(text for part in self.parts for text in part)]
        of_steps = (len(step.content) + sum(len(call.arguments) for call in step.tool_calls) for _, step in self.steps)
        return sum(map(len, texts)) + sum(of_steps)

    def shorten(self, most: int) -> bool:
        """Leave at most *most* characters of its texts, with a mark of it. Returns whether there were more."""
        if sum(len(text) for _, text in self.parts) <= most:
            return False
        kept = []
        for source_id, text in self.parts:
            kept.append((source_id, text[:most] + (CUT if 0 < most < len(text) else "")))
            most -= min(len(text), most)
        self.parts = kept
        return True

    @property
    def content(self) -> str:
        return join_texts(text for _, text in self.parts)


@dataclass(slots=True)
class ImportedConversation:
    """*head* is the source id of the newest message that was shown. *left_out* counts messages, *missing* parts."""

    source_id: str
    title: str = ""
    created_at: dt.datetime | None = None
    last_active_at: dt.datetime | None = None
    archived: bool = False
    starred: bool = False
    messages: list[ImportedMessage] = field(default_factory=list)
    head: str | None = None
    found: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    columns: Mapping[str, Any] = field(default_factory=dict)

    @property
    def characters(self) -> int:
        """About how much room it takes, in characters."""
        own = len(self.title) + sum(len(value) for value in self.columns.values() if isinstance(value, str))
        return own + sum(message.characters for message in self.messages)


@dataclass(frozen=True, slots=True)
class BrokenConversation:
    """A conversation that can't be read: *reason* is a key of `wording.import_reports.REASONS`."""

    title: str
    reason: str


class Broken(Exception):
    """A conversation can't be read; *reason* is a key of `wording.import_reports.REASONS`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


ReadConversation = Callable[[Mapping[str, Any]], ImportedConversation]


def join_texts(texts: Any) -> str:
    return "\n\n".join(text for text in texts if text)


def as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def as_mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def as_id(value: object) -> str:
    """Return an id as text, blank if it is none: neither text nor a whole number, or too long to be one."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    text = str(value) if isinstance(value, str) or abs(value) < 10**30 else ""
    text = text.encode("utf-8", "ignore").decode().replace("\x00", "")
    return text if len(text) <= MOST_ID_CHARACTERS else ""
