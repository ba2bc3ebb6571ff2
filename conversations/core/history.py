"""Older messages, as the window reads them: newest first, in units that may not be split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from .budget import ChatFormat
from .messages import PromptMessage
from .record import LeftOutReason


class HistoryMessage(NamedTuple):
    """A stored message. *content_tokens* is what it adds to the chat format's overhead, counted when it was stored.

    A tuple, like `PromptMessage`: a window makes one of each for every row, at half of a frozen dataclass's price.
    """

    position: int
    message: PromptMessage
    content_tokens: int
    id: int | None = None
    excluded: bool = False

    def tokens(self, chat_format: ChatFormat) -> int:
        return chat_format.overhead_tokens + self.content_tokens

    @property
    def is_empty(self) -> bool:
        """True for a reply that failed before its first token: there is nothing to send."""
        return not self.message.content and not self.message.tool_calls


_position, _is_excluded, _is_empty = map(attrgetter, ("position", "excluded", "is_empty"))


@dataclass(frozen=True, slots=True)
class Unit:
    """Messages that are sent together or not at all, oldest first: one message, or tool calls with their results."""

    messages: tuple[HistoryMessage, ...]

    @property
    def positions(self) -> Iterator[int]:
        return map(_position, self.messages)

    def tokens(self, chat_format: ChatFormat) -> int:
        return sum(message.tokens(chat_format) for message in self.messages)

    @property
    def flaw(self) -> LeftOutReason | None:
        """Return why the unit can't be sent at all, whatever the room, or None if it can."""
        if any(map(_is_excluded, self.messages)):
            return "excluded"
        if self._is_incomplete():
            return "incomplete_tool_turn"
        return "empty" if all(map(_is_empty, self.messages)) else None

    def _is_incomplete(self) -> bool:
        """Return whether a result has no call or a call no result; providers refuse both."""
        calls = [call.id for message in self.messages for call in message.message.tool_calls]
        results = [str(message.message.tool_call_id) for message in self.messages if message.message.role == "tool"]
        return calls != results and sorted(calls) != sorted(results)


def group_into_units(newest_first: Iterable[HistoryMessage]) -> Iterator[Unit]:
    """Yield the units of a history, newest first, reading no further than the unit that is asked for."""
    results: list[HistoryMessage] = []
    for message in newest_first:
        if message.message.role == "tool":
            results.append(message)
        elif message.message.tool_calls:
            yield Unit((message, *reversed(results)))
            results = []
        else:
            if results:
                yield Unit(tuple(reversed(results)))
                results = []
            yield Unit((message,))
    if results:
        yield Unit(tuple(reversed(results)))


def sendable(pins: Sequence[HistoryMessage]) -> tuple[HistoryMessage, ...]:
    """Return the *pins*, oldest first, without those that can't be sent as they are.

    A pinned half of a tool turn is not lost: as an older message it goes with its other half.
    """
    units = [unit for unit in group_into_units(reversed(pins)) if unit.flaw is None]
    return tuple(message for unit in reversed(units) for message in unit.messages)
