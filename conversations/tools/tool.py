"""The interface of tools, and the context that a call gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from conversations.core.tools.tool_spec import ToolSpec
from conversations.grounding.retrieve import Embed


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The user and conversation that a tool runs for; it sees nothing that belongs to others.

    *time_zone* is the owner's, an IANA name; blank where it is not known. *embed* turns texts into vectors, at the
    owner's expense; None where there is nothing to do it with.
    """

    user_id: int
    conversation_id: int
    reply_id: int
    time_zone: str = ""
    embed: Embed | None = None


class Tool(Protocol):
    """A tool that a language model may call."""

    @property
    def spec(self) -> ToolSpec: ...

    @property
    def timeout_seconds(self) -> float: ...

    def check(self, arguments: str) -> None:
        """Raise `ArgumentsNotJson` or `ArgumentsInvalid` unless *arguments*, JSON text, fits the schema."""
        ...

    async def run(self, arguments: str, context: ToolContext) -> str:
        """Return the result as text, of any length. Raises a `ToolError`; anything else is the tool's own failure.

        May be cancelled at any time, and then stops what it can stop.
        """
        ...
