"""The window policies that a scenario can name.

`sliding` moves in steps: its beginning is an anchor that stays where it is while all from there on fits, so that a
provider's prefix cache keeps hitting. When it overflows, the window is refilled, newest first, only up to the low-water
mark, and begins there from then on. Two rules keep that from costing memory:

- If it has come to hold less than half of the mark while there is more before the anchor, it is refilled, as after a
  large grounding that was sent once, or for a larger language model.
- If the mark would hold less than half of itself, because the next message is so large, all of the room is filled: the
  last answer must not be lost to save room for messages to come.

With the mark at 100 % every window is refilled: the naive window.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import MappingProxyType
from typing import ClassVar

from .history import Unit
from .policy import Room, WindowPolicy

# A window that passes over what is too large would otherwise read a whole conversation to fill its last few tokens.
MOST_SKIPPED = 200


class SlidingWindow(WindowPolicy):
    """The newest messages that fit, in steps."""

    name: ClassVar[str] = "sliding"

    def choose(self, older: Iterator[Unit], room: Room) -> Iterable[Unit]:
        if self.low_water_share == 1:
            return self._filled(older, room.tokens, oversized_above=0)
        mark_tokens = int(room.tokens * self.low_water_share)
        units = _Reread(older)
        kept = self._kept(units, room, mark_tokens)
        if kept is not None:
            return kept
        stepped = _from_a_question(self._filled(units, mark_tokens, oversized_above=mark_tokens))
        if _is_enough(sum(unit.tokens for unit in stepped), mark_tokens):
            return stepped
        return self._filled(units, room.tokens, oversized_above=mark_tokens)

    def _kept(self, older: Iterable[Unit], room: Room, mark_tokens: int) -> list[Unit] | None:
        """Return what there is from the anchor on, or None if the window has to be refilled."""
        kept: list[Unit] = []
        tokens = skipped = 0
        for unit in older:
            if room.anchor is not None and unit.position < room.anchor:
                return kept if _is_enough(tokens, mark_tokens) else None
            if tokens + unit.tokens <= room.tokens:
                kept.append(unit)
                tokens += unit.tokens
            elif self.skip_oversized and unit.tokens > mark_tokens and skipped < MOST_SKIPPED:
                skipped += 1
            else:
                return None
        return kept

    def _filled(self, older: Iterable[Unit], limit_tokens: int, *, oversized_above: int) -> list[Unit]:
        """Return the newest units that fit *limit_tokens*; with `skip_oversized` passing over what is too large."""
        filled: list[Unit] = []
        skipped = 0
        for unit in older:
            if unit.tokens <= limit_tokens:
                filled.append(unit)
                limit_tokens -= unit.tokens
            elif self.skip_oversized and unit.tokens > oversized_above and skipped < MOST_SKIPPED:
                skipped += 1
            else:
                break
        return filled


class LastMessages(WindowPolicy):
    """The last n messages, as far as they fit."""

    name: ClassVar[str] = "last-n-messages"

    def choose(self, older: Iterator[Unit], room: Room) -> Iterable[Unit]:
        return room.take(self._last(older))

    def _last(self, older: Iterator[Unit]) -> Iterator[Unit]:
        messages = 1  # the newest
        for unit in older:
            messages += len(unit.messages)
            if messages > self.last_messages:
                return
            yield unit


class WholeConversation(WindowPolicy):
    """Everything, or nothing is sent."""

    name: ClassVar[str] = "full"
    refuses_to_drop: ClassVar[bool] = True

    def choose(self, older: Iterator[Unit], room: Room) -> Iterable[Unit]:
        return older


BUILT_IN = MappingProxyType({policy.name: policy for policy in (SlidingWindow, LastMessages, WholeConversation)})


class _Reread:
    """Units that can be read from the beginning again and again; each is taken from *source* once."""

    def __init__(self, source: Iterator[Unit]) -> None:
        self._source = source
        self._read: list[Unit] = []

    def __iter__(self) -> Iterator[Unit]:
        yield from self._read
        for unit in self._source:
            self._read.append(unit)
            yield unit


def _is_enough(tokens: int, mark_tokens: int) -> bool:
    return 2 * tokens >= mark_tokens


def _from_a_question(newest_first: list[Unit]) -> list[Unit]:
    """Return the units from the oldest question among them on: many chat templates refuse to begin with a reply."""
    for count in range(len(newest_first), 0, -1):
        if newest_first[count - 1].messages[0].message.role == "user":
            return newest_first[:count]
    return newest_first
