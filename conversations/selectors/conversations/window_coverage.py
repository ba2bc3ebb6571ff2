"""Window coverage: which messages of a conversation a window holds, and why it does not hold others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from conversations.core.window.history import LeftOutReason
from conversations.core.window.window_record import WindowRecord
from conversations.models import Conversation

Mark = Literal["in", "pinned", "excluded", "out", "recalled"]


class Markable(Protocol):
    """A stored message, as far as its mark depends on it."""

    @property
    def pk(self) -> int: ...
    @property
    def position(self) -> int: ...
    @property
    def pinned(self) -> bool: ...
    @property
    def excluded(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Coverage:
    """The messages that a window holds. From *first_position* on everything is in it but *left_out*: message → reason.

    Before it only the pins are, if it *has_pins_above*, and what was *recalled*, by id and by where it stands, where
    the policy *recalls*. Nothing below *forgotten_before* is in it, pinned or not.
    *pins* are all of them, by id.
    """

    first_position: int = 0
    forgotten_before: int = 0
    left_out: Mapping[int, LeftOutReason] = field(default_factory=dict)
    pins: tuple[int, ...] = ()
    has_pins_above: bool = False
    recalled: tuple[int, ...] = ()
    recalled_positions: tuple[int, ...] = ()
    recalls: bool = False

    @property
    def is_forgotten_above(self) -> bool:
        """Whether it begins where it does because everything above was forgotten."""
        return 0 < self.forgotten_before == self.first_position

    @classmethod
    def of(cls, record: WindowRecord, *, forgotten_before: int | None = None) -> Coverage:
        """Return what the window of *record* holds; *forgotten_before* tells what has been forgotten since."""
        forgotten = record.forgotten_before if forgotten_before is None else forgotten_before
        pins = [entry for entry in record.entries if entry.kind == "pin" and (entry.position or 0) >= forgotten]
        return cls(
            first_position=max(record.first_position, forgotten),
            forgotten_before=forgotten,
            left_out={out.message: out.reason for out in record.left_out if out.message is not None},
            pins=tuple(pin.message for pin in pins if pin.message is not None),
            has_pins_above=any((pin.position or 0) < record.first_position for pin in pins),
            recalled=record.recall.messages,
            recalled_positions=record.recall.positions,
            recalls=record.recall.limit_tokens > 0,
        )

    def mark_of(self, message: Markable) -> Mark:
        """Return how *message* is marked; what a user has decided about it goes before what the window says."""
        if message.excluded:
            return "excluded"
        if message.position < self.forgotten_before:
            return "out"
        if message.pinned:
            return "pinned"
        is_out = message.position < self.first_position or message.pk in self.left_out
        if not is_out:
            return "in"
        return "recalled" if message.pk in self.recalled else "out"


EVERYTHING = Coverage()


def current_coverage(conversation: Conversation, record: WindowRecord | None) -> Coverage:
    """Return what the language model sees of *conversation*, by the *record* of its last window, if there was one."""
    forgotten = conversation.forgotten_before
    if record is None:
        return replace(EVERYTHING, first_position=forgotten, forgotten_before=forgotten)
    return Coverage.of(record, forgotten_before=forgotten)
