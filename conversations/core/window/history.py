"""Older messages, as the window reads them: newest first, in units that may not be split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, Literal, NamedTuple, TypeVar

from conversations.core.prompt.messages import PromptMessage
from conversations.core.prompt.pictures import PicturesSent

from .budget import ChatFormat

LeftOutReason = Literal[
    "does_not_fit", "oversized", "excluded", "failed", "empty", "incomplete_tool_turn", "without_tools", "policy"
]


T = TypeVar("T")


class HistoryMessage(NamedTuple):
    """A stored message. *content_tokens* is what it adds to the chat format's overhead, counted when it was stored.

    *picture_tokens* is what its pictures add, or the lines in their place: *pictures_sent* says which.
    What a reply said before it *failed* is shown and never sent; what it said before it was stopped or interrupted is.

    A tuple, like `PromptMessage`: a window makes one of each for every row, at half of a frozen dataclass's price.
    """

    position: int
    message: PromptMessage
    content_tokens: int
    id: int | None = None
    excluded: bool = False
    failed: bool = False
    picture_tokens: int = 0
    pictures_sent: PicturesSent = ""

    @property
    def sent_tokens(self) -> int:
        """What it adds to the chat format's overhead when it is sent, pictures included."""
        return self.content_tokens + self.picture_tokens

    def tokens(self, chat_format: ChatFormat) -> int:
        return chat_format.overhead_tokens + self.content_tokens + self.picture_tokens


class Unit(NamedTuple):
    """Messages that are sent together or not at all, oldest first: one message, or tool calls with their results."""

    messages: tuple[HistoryMessage, ...]
    tokens: int

    @property
    def position(self) -> int:
        """The position at which the unit begins."""
        return self.messages[0].position

    @property
    def flaw(self) -> LeftOutReason | None:
        """Return why the unit can't be sent at all, whatever the room, or None if it can.

        Empty is a reply that ended before its first token.
        """
        first = self.messages[0]
        if first.message.role != "tool" and not first.message.tool_calls:
            if first.excluded or first.failed:
                return "excluded" if first.excluded else "failed"
            return None if first.message.content or first.message.pictures else "empty"
        if any(message.excluded for message in self.messages):
            return "excluded"
        if self._is_incomplete():
            return "incomplete_tool_turn"
        return None

    def _is_incomplete(self) -> bool:
        """Return whether a result has no call or a call no result; providers refuse both."""
        calls = [call.id for message in self.messages for call in message.message.tool_calls]
        results = [str(message.message.tool_call_id) for message in self.messages if message.message.role == "tool"]
        return calls != results and sorted(calls) != sorted(results)


class Reread(Generic[T]):
    """Items that can be read from the beginning again and again; each is taken from *source* once."""

    def __init__(self, source: Iterable[T]) -> None:
        self._source = iter(source)
        self._read: list[T] = []

    def __iter__(self) -> Iterator[T]:
        yield from self._read
        for item in self._source:
            self._read.append(item)
            yield item


def group_into_units(newest_first: Iterable[HistoryMessage], *, overhead_tokens: int) -> Iterator[Unit]:
    """Yield the units of a history, newest first, reading no further than the unit that is asked for.

    *overhead_tokens* is what the chat format adds to each message.
    """
    results: list[HistoryMessage] = []
    for message in newest_first:
        sent = message.message
        if sent.role == "tool":
            results.append(message)
        elif sent.tool_calls:
            yield _unit((message, *reversed(results)), overhead_tokens)
            results = []
        else:
            if results:
                yield _unit(tuple(reversed(results)), overhead_tokens)
                results = []
            yield Unit((message,), overhead_tokens + message.content_tokens + message.picture_tokens)
    if results:
        yield _unit(tuple(reversed(results)), overhead_tokens)


def _unit(messages: tuple[HistoryMessage, ...], overhead_tokens: int) -> Unit:
    return Unit(messages, sum(overhead_tokens + message.sent_tokens for message in messages))


def sendable(messages: Sequence[HistoryMessage]) -> tuple[HistoryMessage, ...]:
    """Return *messages*, oldest first, without those that can't be sent as they are.

    A pinned half of a tool turn is not lost: as an older message it goes with its other half.
    """
    units = [unit for unit in group_into_units(reversed(messages), overhead_tokens=0) if unit.flaw is None]
    return tuple(message for unit in reversed(units) for message in unit.messages)
