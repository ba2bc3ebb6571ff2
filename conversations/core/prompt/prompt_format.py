"""How a prompt is written for its provider: over which of two APIs, and with which marks of cache breakpoints.

chat        Chat Completions: a list of messages, the calls of tools in a message, each result a message
responses   the Responses API: a list of items, each call and each result an item, reasoning between them
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Wire = Literal["chat", "responses"]
Breakpoints = Literal["", "openai", "anthropic"]
# The field of a request's body in which its prompt stands.
PROMPT_FIELDS: Final[Mapping[Wire, str]] = {"chat": "messages", "responses": "input"}


@dataclass(frozen=True, slots=True)
class PromptFormat:
    """The API that a prompt is sent over, and whose marks its cache breakpoints have; blank is none."""

    wire: Wire = "chat"
    breakpoints: Breakpoints = ""

    @property
    def prompt_field(self) -> str:
        """The field of a request's body in which its prompt stands."""
        return PROMPT_FIELDS[self.wire]


PLAIN_FORMAT: Final = PromptFormat()
