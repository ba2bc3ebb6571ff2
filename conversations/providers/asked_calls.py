"""The tool calls of one completion, put together from the pieces in which they come.

Servers leave out ids, repeat them, number calls wrongly or not at all: what comes out has an id of its own each.
"""

from __future__ import annotations

from conversations.core.errors import MalformedStream
from conversations.core.messages import ToolCall
from conversations.core.openai_messages import MOST_ID_CHARACTERS
from conversations.core.text import UNSTORABLE

from .completion_events import ToolCallDelta

MOST_CALLS = 128


class AskedCalls:
    """Collects the calls of one completion."""

    def __init__(self) -> None:
        self._parts: dict[int, tuple[str, str, list[str]]] = {}

    def __bool__(self) -> bool:
        return bool(self._parts)

    def take(self, delta: ToolCallDelta) -> None:
        """Raises `MalformedStream` for more calls than anybody means."""
        id_, name, pieces = self._parts.get(delta.index, ("", "", []))
        if delta.index not in self._parts and len(self._parts) >= MOST_CALLS:
            raise MalformedStream(detail=f"more than {MOST_CALLS} tool calls at once")
        pieces.append(delta.arguments)
        self._parts[delta.index] = (id_ or delta.id, name or delta.name, pieces)

    @property
    def text(self) -> str:
        """Return what was written of them, to be counted where nobody reports it."""
        return "".join(name + "".join(pieces) for _, name, pieces in self._parts.values())

    def calls(self, *, step: int) -> tuple[ToolCall, ...]:
        """Return the calls in their order; ids are made up where they are missing, too long or not the only ones."""
        taken: set[str] = set()
        calls = []
        for place, (_, (id_, name, pieces)) in enumerate(sorted(self._parts.items())):
            call_id = UNSTORABLE.sub("", id_)
            if not call_id or call_id in taken or len(call_id) > MOST_ID_CHARACTERS:
                call_id = f"call_{step}_{place}"
            taken.add(call_id)
            calls.append(ToolCall(call_id, UNSTORABLE.sub("", name), UNSTORABLE.sub("", "".join(pieces)) or "{}"))
        return tuple(calls)
