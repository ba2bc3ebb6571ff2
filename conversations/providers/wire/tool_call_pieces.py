"""The tool calls of one completion, put together from the pieces in which they come.

Servers leave out ids, repeat them, give all calls the same number or none at all: what comes out has an id of its own
each.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from conversations.core.prompt.messages import ToolCall
from conversations.core.prompt.openai_messages import MOST_ID_CHARACTERS
from conversations.core.text.storable_text import StorablePieces
from conversations.core.tools.tool_spec import is_object

from .completion_events import ToolCallDelta

MOST_CALLS = 128  # more than anybody means


@dataclass(slots=True)
class _Parts:
    """One call, as far as it has come."""

    id: str
    name: str
    pieces: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    def goes_on_with(self, delta: ToolCallDelta) -> bool:
        """Tell whether *delta*, which has this call's number, is a further piece of it, or another call."""
        if delta.id and self.id:
            return delta.id == self.id
        may_be_another = bool(delta.name and self.name and self.pieces[-1].rstrip().endswith("}"))
        return not (may_be_another and is_object(self.arguments))


class AskedCalls:
    """Collects the calls of one completion."""

    def __init__(self) -> None:
        self._calls: list[_Parts] = []
        self._open: dict[int, _Parts] = {}  # by the number that the server gives them

    def __bool__(self) -> bool:
        return bool(self._calls)

    def take(self, delta: ToolCallDelta) -> None:
        call = self._open.get(delta.index)
        if call is None or not call.goes_on_with(delta):
            call = self._open[delta.index] = _Parts(delta.id, delta.name)
            self._calls.append(call)
        call.id, call.name = call.id or delta.id, call.name or delta.name
        call.pieces.append(delta.arguments)

    @property
    def text(self) -> str:
        """Return what was written of them, to be counted where nobody reports it."""
        return "".join(call.name + call.arguments for call in self._calls)

    def calls(self, *, step: int, is_cut: bool = False) -> tuple[ToolCall, ...]:
        """Return the first `MOST_CALLS` in their order.

        Ids are made up where they are missing, too long or not the only ones. Without arguments a call is one of an
        empty object, but not the last one of a completion that *is_cut*: nobody knows what it was to be.
        """
        taken: set[str] = set()
        calls = []
        for place, parts in enumerate(self._calls[:MOST_CALLS]):
            call_id = _storable(parts.id)
            if not call_id or call_id in taken or len(call_id) > MOST_ID_CHARACTERS:
                call_id = f"call_{step}_{place}"
            taken.add(call_id)
            empty = "" if is_cut and parts is self._calls[-1] else "{}"
            calls.append(ToolCall(call_id, _storable(parts.name), _storable(parts.arguments) or empty))
        return tuple(calls)


def _storable(text: str) -> str:
    return StorablePieces().take(text)
