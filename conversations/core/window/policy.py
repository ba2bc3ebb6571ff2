"""A window policy: how many tokens a window may take, and which older messages are in it.

Write one by subclassing `WindowPolicy` and overriding `choose`. What must be in (system prompt, tools, pins, the newest
message) is no policy's business: it is there before `choose` is asked, and what `choose` returns is held to its room.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, ClassVar

from .budget import LanguageModel, budget_tokens
from .history import Unit

DEFAULT_LOW_WATER_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Room:
    """What is left of the budget for older messages. *anchor* is the position from which on the last window had them.

    None is no anchor yet: nothing had to be left out before.
    """

    tokens: int
    anchor: int | None = None

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

    *grounding_share* is the largest part of the budget that grounding may take; *low_water_share* how much of its room
    for older messages a sliding window fills when it takes a step; *last_messages* how many messages the policy
    `last-n-messages` keeps, the newest user message included. Raises `ValueError` when one of them makes no sense.
    """

    cap_tokens: int | None = None
    message_cap_tokens: int | None = None
    reply_reserve_tokens: int | None = None
    grounding_share: float = 0.5
    low_water_share: float = DEFAULT_LOW_WATER_SHARE
    last_messages: int = 20
    skip_oversized: bool = False

    name: ClassVar[str] = ""
    refuses_to_drop: ClassVar[bool] = False  # older messages come before grounding and results, and else it is refused

    def __post_init__(self) -> None:
        if not 0 <= self.grounding_share <= 1:
            raise ValueError(f"grounding_share must be from 0 to 1, got {self.grounding_share}")
        if not 0 < self.low_water_share <= 1:
            raise ValueError(f"low_water_share must be above 0 and at most 1, got {self.low_water_share}")
        if self.last_messages < 1:
            raise ValueError("last_messages must be at least 1: the newest message is always sent")
        for limit in ("cap_tokens", "message_cap_tokens", "reply_reserve_tokens"):
            if (tokens := getattr(self, limit)) is not None and tokens < 1:
                raise ValueError(f"{limit} must be at least 1, or None for no limit of its own; got {tokens}")

    def choose(self, older: Iterator[Unit], room: Room) -> Iterable[Unit]:
        """Return which of *older* to send, in any order: at most *room.tokens* of them.

        *older* comes newest first and is read from the database as it is asked for. Every unit in it can be sent;
        what is excluded, empty or pinned is not among them, nor are tool turns of more than their part (`core.older`).
        Too much, or what was not offered, is refused.
        """
        raise NotImplementedError

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
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"name": self.name or f"{type(self).__module__}.{type(self).__qualname__}", **values}
