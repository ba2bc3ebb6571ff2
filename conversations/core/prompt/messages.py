"""The messages of a prompt: plain values, in the form in which a provider receives them.

Digests (SHA-256) of what was sent prove that what is shown again is the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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

    def to_wire(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "type": "function",
            "function": {"name": self.name, "arguments": self.arguments},
        }

    @classmethod
    def from_wire(cls, call: Mapping[str, Any]) -> PromptToolCall:
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

    def to_wire(self) -> dict[str, Any]:
        """Return the message in OpenAI's chat format, without empty fields."""
        content = content_parts(self.content, self.pictures) if self.pictures else self.content
        wire: dict[str, Any] = {"role": self.role, "content": content}
        if self.kept is not None:
            wire |= self.kept.fields
        if self.name is not None:
            wire["name"] = self.name
        if self.tool_calls:
            wire["tool_calls"] = [call.to_wire() for call in self.tool_calls]
            if self.kept is not None:
                for place, call in enumerate(wire["tool_calls"]):
                    call |= self.kept.fields_of_call(place)
        if self.tool_call_id is not None:
            wire["tool_call_id"] = self.tool_call_id
        return wire


Prompt = tuple[PromptMessage, ...]


def digest_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the SHA-256, in hexadecimal, of messages as they are sent."""
    return digest_of_text(json.dumps(messages, sort_keys=True))


def digest_of_text(text: str) -> str:
    """Return the SHA-256 of *text*, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
