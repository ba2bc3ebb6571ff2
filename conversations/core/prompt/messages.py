"""The messages of a prompt: plain values, in the form in which a provider receives them.

Digests (SHA-256) of what was sent prove that what is shown again is the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from .kept_reasoning import KeptReasoning
from .pictures import PromptPicture, content_parts

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class PromptToolCall:
    """A function that the language model asks for. *arguments* is JSON text exactly as the model wrote it."""

    id: str
    name: str
    arguments: str

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "type": "function",
            "function": {"name": self.name, "arguments": self.arguments},
        }

    @classmethod
    def from_json(cls, call: Mapping[str, Any]) -> PromptToolCall:
        return cls(call["id"], call["function"]["name"], call["function"]["arguments"])


class PromptMessage(NamedTuple):
    """One message of a prompt. A `tool` message answers the call *tool_call_id*; users send *pictures*.

    *kept* is what its provider demands back with the calls of a tool loop, while that lasts.
    """

    role: Role
    content: str
    name: str | None = None
    tool_calls: tuple[PromptToolCall, ...] = ()
    tool_call_id: str | None = None
    pictures: tuple[PromptPicture, ...] = ()
    kept: KeptReasoning | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the message in OpenAI's chat format, without empty fields."""
        content = content_parts(self.content, self.pictures) if self.pictures else self.content
        written: dict[str, Any] = {"role": self.role, "content": content}
        if self.kept is not None:
            written |= self.kept.fields
        if self.name is not None:
            written["name"] = self.name
        if self.tool_calls:
            written["tool_calls"] = [call.to_json() for call in self.tool_calls]
            if self.kept is not None:
                for place, call in enumerate(written["tool_calls"]):
                    call |= self.kept.fields_of_call(place)
        if self.tool_call_id is not None:
            written["tool_call_id"] = self.tool_call_id
        return written

    def with_call_ids(self, ids: Mapping[str, str]) -> PromptMessage:
        """Return the message with those of its calls' ids, or of the call that it answers, that *ids* replaces."""
        calls = tuple(replace(call, id=ids.get(call.id, call.id)) for call in self.tool_calls)
        answered = self.tool_call_id
        return self._replace(tool_calls=calls, tool_call_id=answered and ids.get(answered, answered))


Prompt = Sequence[PromptMessage]  # not to be changed


def with_whole_call_ids(messages: Iterable[PromptMessage]) -> Iterator[PromptMessage]:
    """Yield *messages* with the ids that are kept, as too long to be stored, in the calls and in their results."""
    ids: dict[str, str] = {}
    for message in messages:
        if message.role != "tool":
            ids = _whole_ids(message)
        yield message.with_call_ids(ids) if ids else message


def _whole_ids(message: PromptMessage) -> dict[str, str]:
    """Return the ids of the message's calls that are kept, by those that are stored."""
    if message.kept is None:
        return {}
    return {call.id: whole for call, whole in zip(message.tool_calls, message.kept.ids, strict=False) if whole}


def digest_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the SHA-256, in hexadecimal, of messages as they are sent."""
    return digest_of_text(json.dumps(messages, sort_keys=True))


def digest_of_text(text: str) -> str:
    """Return the SHA-256 of *text*, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
