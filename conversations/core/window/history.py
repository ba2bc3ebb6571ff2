"""Older messages, as the window reads them: newest first, in units that may not be split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import tee
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
    """Messages that are sent together or not at all, oldest first: one message, or tool calls with their results.

    It begins at *position*. *flaw* is why it can't be sent at all, whatever the room, or None if it can.
    """

    messages: tuple[HistoryMessage, ...]
    tokens: int
    position: int
    flaw: LeftOutReason | None = None


class Reread(Generic[T]):
    """Items that can be read from the beginning again and again; each is taken from *source* once."""

    def __init__(self, source: Iterable[T]) -> None:
        self._unread = iter(source)

    def __iter__(self) -> Iterator[T]:
        self._unread, again = tee(self._unread)
        return again


def group_into_units(newest_first: Iterable[HistoryMessage], *, overhead_tokens: int) -> Iterator[Unit]:
    """Yield the units of a history, newest first, reading no further than the unit that is asked for.

    *overhead_tokens* is what the chat format adds to each message.
    """
    new = tuple.__new__
    results: list[HistoryMessage] = []
    for message in newest_first:
        position, sent, content_tokens, _, excluded, failed, picture_tokens, _ = message
        if sent.role == "tool":
            results.append(message)
        elif sent.tool_calls:
            yield _tool_turn((message, *reversed(results)), overhead_tokens)
            results = []
        else:
            if results:
                yield _tool_turn(tuple(reversed(results)), overhead_tokens)
                results = []
            flaw = _flaw(message) if excluded or failed or not sent.content else None
            yield new(Unit, ((message,), overhead_tokens + content_tokens + picture_tokens, position, flaw))
    if results:
        yield _tool_turn(tuple(reversed(results)), overhead_tokens)


def _flaw(message: HistoryMessage) -> LeftOutReason | None:
    """Return why a message that neither calls tools nor answers a call can't be sent.

    Empty is a reply that ended before its first token.
    """
    if message.excluded or message.failed:
        return "excluded" if message.excluded else "failed"
    return None if message.message.content or message.message.pictures else "empty"


def _tool_turn(messages: tuple[HistoryMessage, ...], overhead_tokens: int) -> Unit:
    """Return the unit of tool calls with their results, of which some may be missing."""
    tokens = sum(overhead_tokens + message.sent_tokens for message in messages)
    if any(message.excluded for message in messages):
        flaw: LeftOutReason | None = "excluded"
    else:
        flaw = "incomplete_tool_turn" if _is_incomplete(messages) else None
    return Unit(messages, tokens, messages[0].position, flaw)


def _is_incomplete(messages: tuple[HistoryMessage, ...]) -> bool:
    """Return whether a result has no call or a call no result; providers refuse both."""
    calls = [call.id for message in messages for call in message.message.tool_calls]
    results = [str(message.message.tool_call_id) for message in messages if message.message.role == "tool"]
    return calls != results and sorted(calls) != sorted(results)


def sendable(messages: Sequence[HistoryMessage]) -> tuple[HistoryMessage, ...]:
    """Return *messages*, oldest first, without those that can't be sent as they are.

    A pinned half of a tool turn is not lost: as an older message it goes with its other half.
    """
    units = [unit for unit in group_into_units(reversed(messages), overhead_tokens=0) if unit.flaw is None]
    return tuple(message for unit in reversed(units) for message in unit.messages)
