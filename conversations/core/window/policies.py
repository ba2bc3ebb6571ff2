"""Window policies: how many tokens a window may take, and which older messages are in it.

Write one by subclassing `WindowPolicy` and overriding `choose`. What must be in (system prompt, tools, pins, the newest
message) is no policy's business: it is there before `choose` is asked, and what `choose` returns is held to its room.
A scenario names one of `BUILT_IN`, or a class of the site's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar

from .budget import LanguageModel, budget_tokens
from .history import Reread, Unit

DEFAULT_LOW_WATER_SHARE = 0.7
DEFAULT_RECALL_SHARE = 0.25
DEFAULT_SUMMARY_CAP_TOKENS = 1_000
# A window that passes over what is too large would otherwise read a whole conversation to fill its last few tokens.
MOST_SKIPPED = 200


@dataclass(frozen=True, slots=True)
class Room:
    """The rest of the budget, for older messages. *anchor* is the position from which on the last window had them.

    None is no anchor yet: nothing had to be left out before. Of the *tokens* so many are for recall, *recall_tokens*,
    once the window no longer begins with the conversation: until then there is nothing to recall.
    """

    tokens: int
    anchor: int | None = None
    recall_tokens: int = 0

    @property
    def tokens_beside_recall(self) -> int:
        return self.tokens - self.recall_tokens

    def take(self, older: Iterable[Unit]) -> Iterator[Unit]:
        """Yield the units, newest first, until one does not fit."""
        remaining_tokens = self.tokens
        for unit in older:
            remaining_tokens -= unit.tokens
            if remaining_tokens < 0:
                return
            yield unit


@dataclass(frozen=True, slots=True)
class WindowPolicy:
    """What a scenario sets. Limits are tokens; None means that the language model's own limit holds.

    *grounding_share* is the largest part of the budget that grounding may take; *recall_share* the part of the room for
    older messages that what is recalled may take, where the policy recalls, and 0 turns that off; *low_water_share* how
    much of its room for older messages a sliding window fills when it takes a step; *last_messages* how many messages
    the policy `last-n-messages` keeps, the newest user message included; *summary_cap_tokens* the most that the summary
    of what was dropped may take in a prompt, where the policy summarises, and 0 is none. With
    *pictures_only_with_question* a line stands for each picture of an older message. Raises `ValueError` when one of
    them makes no sense.
    """

    cap_tokens: int | None = None
    message_cap_tokens: int | None = None
    reply_reserve_tokens: int | None = None
    grounding_share: float = 0.5
    low_water_share: float = DEFAULT_LOW_WATER_SHARE
    last_messages: int = 20
    skip_oversized: bool = False
    recall_share: float = DEFAULT_RECALL_SHARE
    summary_cap_tokens: int = DEFAULT_SUMMARY_CAP_TOKENS
    pictures_only_with_question: bool = False

    name: ClassVar[str] = ""
    recalls: ClassVar[bool] = False  # what it drops may be found again for a question, and sent beside it
    summarises: ClassVar[bool] = False  # a summary of what it drops is kept, and sent before the older messages
    refuses_to_drop: ClassVar[bool] = False  # older messages come before grounding and results, and else it is refused

    def __post_init__(self) -> None:
        if not 0 <= self.grounding_share <= 1:
            raise ValueError(f"grounding_share must be from 0 to 1, got {self.grounding_share}")
        if not 0 <= self.recall_share <= 1:
            raise ValueError(f"recall_share must be from 0 to 1, got {self.recall_share}")
        if not 0 < self.low_water_share <= 1:
            raise ValueError(f"low_water_share must be above 0 and at most 1, got {self.low_water_share}")
        if self.last_messages < 1:
            raise ValueError("last_messages must be at least 1: the newest message is always sent")
        if self.summary_cap_tokens < 0:
            raise ValueError(f"summary_cap_tokens must be at least 0, got {self.summary_cap_tokens}")
        for limit in ("cap_tokens", "message_cap_tokens", "reply_reserve_tokens"):
            if (tokens := getattr(self, limit)) is not None and tokens < 1:
                raise ValueError(f"{limit} must be at least 1, or None for no limit of its own; got {tokens}")

    def choose(self, older: Iterator[Unit], room: Room) -> Iterable[Unit]:
        """Return which of *older* to send, in any order: at most *room.tokens* of them.

        *older* comes newest first and is read from the database as it is asked for. Every unit in it can be sent;
        what is excluded, empty or pinned is not among them, nor are tool turns of more than their part
        (`older_messages`). Too much, or what was not offered, is refused.
        """
        raise NotImplementedError

    @property
    def always_refills(self) -> bool:
        """Whether every window is filled without regard to where the last one began: no cache is lost by moving."""
        return False

    def recall_tokens(self, room_tokens: int) -> int:
        """Return how much of the room for older messages is for what is recalled."""
        return int(room_tokens * Decimal(str(self.recall_share))) if self.recalls else 0

    @property
    def summary_limit_tokens(self) -> int:
        """The most that the summary may take in a prompt. A policy that refuses to drop has nothing to summarise."""
        return self.summary_cap_tokens if self.summarises and not self.refuses_to_drop else 0

    def budget_tokens(self, language_model: LanguageModel, *, calibration: Decimal = Decimal(1)) -> int:
        """Return how many tokens a prompt for *language_model* may have under this policy."""
        return budget_tokens(
            language_model,
            reply_reserve_tokens=self.reply_reserve_tokens,
            cap_tokens=self.cap_tokens,
            calibration=calibration,
        )

    def check_it_holds_a_message(self, language_model: LanguageModel, *, fixed_tokens: int = 0) -> None:
        """Raise `ValueError` if not even a message of one token would fit beside the *fixed_tokens* of every prompt.

        Those are the system prompt and the tool schemas, as they are rendered.
        """
        chat_format = language_model.chat_format
        smallest_tokens = chat_format.priming_tokens + fixed_tokens + chat_format.overhead_tokens + 1
        reserve_tokens = self.reply_reserve_tokens or language_model.reply_reserve_tokens
        left_tokens = language_model.context_window_tokens - reserve_tokens
        if left_tokens < smallest_tokens:
            raise ValueError(
                f"reply_reserve_tokens leaves {max(left_tokens, 0):,} of {language_model.name}'s "
                f"{language_model.context_window_tokens:,} tokens; the smallest prompt has {smallest_tokens:,}"
            )
        if self.cap_tokens is not None and self.cap_tokens < smallest_tokens:
            raise ValueError(
                f"cap_tokens must be at least {smallest_tokens:,}, the smallest prompt; got {self.cap_tokens:,}"
            )

    def to_json(self) -> dict[str, Any]:
        """Return the policy for the record: its name, or the path of its class, and its values."""
        names = _value_names(type(self))  # type: ignore[arg-type]  # mypy takes a class for one of its objects
        values = {name: getattr(self, name) for name in names}
        return {"name": self.name or f"{type(self).__module__}.{type(self).__qualname__}", **values}


class SlidingWindow(WindowPolicy):
    """The newest messages that fit, in steps.

    Its beginning is an anchor that stays where it is while all from there on fits, so that a provider's prefix cache
    keeps hitting. When it overflows, the window is refilled, newest first, only up to the low-water mark, and begins
    there from then on. Two rules keep that from costing memory:

    - If it has come to hold less than half of the mark while there is more before the anchor, it is refilled, as
      after a large grounding that was sent once, or for a larger language model.
    - If the mark would hold less than half of itself, because the next message is so large, all of the room is filled:
      the last answer must not be lost to save room for messages to come.

    With the mark at 100 % every window is refilled: the naive window.

    What is for recall is kept free for it as soon as something has left the window, however much is recalled: the
    beginning must not move with what each question needs.
    """

    name: ClassVar[str] = "sliding"
    recalls: ClassVar[bool] = True

    @property
    def always_refills(self) -> bool:
        return self.low_water_share == 1

    def choose(self, older: Iterator[Unit], room: Room) -> Iterable[Unit]:
        units = Reread(older)
        if room.recall_tokens and not room.anchor:
            whole = _all_within(units, room.tokens)
            if whole is not None:
                return whole
        room = Room(room.tokens_beside_recall, room.anchor)
        if self.always_refills:
            return self._filled(units, room.tokens, oversized_above=0)
        mark_tokens = int(room.tokens * self.low_water_share)
        kept = self._kept(units, room, mark_tokens)
        if kept is not None:
            return kept
        filled = self._filled(units, mark_tokens, oversized_above=mark_tokens)
        stepped = _from_a_question(filled) or filled
        if _is_enough(sum(unit.tokens for unit in stepped), mark_tokens):
            return stepped
        return self._filled(units, room.tokens, oversized_above=mark_tokens)

    def _kept(self, older: Iterable[Unit], room: Room, mark_tokens: int) -> list[Unit] | None:
        """Return what there is from the anchor on, or None if the window has to be refilled."""
        kept: list[Unit] = []
        begins_at, left_tokens, skipped = room.anchor or 0, room.tokens, 0
        for unit in older:
            if unit.position < begins_at:
                return kept if _is_enough(room.tokens - left_tokens, mark_tokens) else None
            if unit.tokens <= left_tokens:
                kept.append(unit)
                left_tokens -= unit.tokens
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


class SlidingWithSummary(SlidingWindow):
    """The sliding window, and before it a summary of what has left it."""

    name: ClassVar[str] = "sliding-with-summary"
    summarises: ClassVar[bool] = True


class LastMessages(WindowPolicy):
    """The last n messages, as far as they fit, from a question on: if need be from the newest message."""

    name: ClassVar[str] = "last-n-messages"

    def choose(self, older: Iterator[Unit], room: Room) -> Iterable[Unit]:
        kept: list[Unit] = []
        messages, left_tokens = 1, room.tokens  # the newest is one
        for unit in older:
            messages += len(unit.messages)
            left_tokens -= unit.tokens
            if messages > self.last_messages or left_tokens < 0:
                return _from_a_question(kept)
            kept.append(unit)
        return kept


class WholeConversation(WindowPolicy):
    """Everything, or nothing is sent."""

    name: ClassVar[str] = "full"
    refuses_to_drop: ClassVar[bool] = True

    def choose(self, older: Iterator[Unit], room: Room) -> Iterable[Unit]:
        return older


BUILT_IN = MappingProxyType(
    {policy.name: policy for policy in (SlidingWindow, SlidingWithSummary, LastMessages, WholeConversation)}
)


@cache
def _value_names(policy: type[WindowPolicy]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(policy))


def _all_within(newest_first: Iterable[Unit], limit_tokens: int) -> list[Unit] | None:
    """Return all of the units, or None if they take more."""
    units = []
    for unit in newest_first:
        limit_tokens -= unit.tokens
        if limit_tokens < 0:
            return None
        units.append(unit)
    return units


def _is_enough(tokens: int, mark_tokens: int) -> bool:
    return 2 * tokens >= mark_tokens


def _from_a_question(newest_first: list[Unit]) -> list[Unit]:
    """Return the units from the oldest question among them on: many chat templates refuse to begin with a reply.

    None of them, if there is no question among them.
    """
    for count in range(len(newest_first), 0, -1):
        if newest_first[count - 1].messages[0].message.role == "user":
            return newest_first[:count]
    return []
