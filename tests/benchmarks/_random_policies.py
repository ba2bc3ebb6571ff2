"""Window policies with random values: the product's own, and custom ones, of which some do what none may do."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

from conversations.core.window.history import Unit
from conversations.core.window.policies import (
    LastMessages,
    Room,
    SlidingWindow,
    SlidingWithSummary,
    WholeConversation,
    WindowPolicy,
)


class EverySecond(WindowPolicy):
    """Leaves gaps, which are not recalled."""

    recalls = True
    summarises = True

    def choose(self, older: Iterator[Unit], room: Room) -> Iterable[Unit]:
        return list(room.take(older))[::2]


class OldestFirst(WindowPolicy):
    """Reads everything, keeps the beginning of the conversation and answers in another order than it was asked."""

    def choose(self, older: Iterator[Unit], room: Room) -> Iterable[Unit]:
        return list(room.take(reversed(list(older))))


class Nothing(WindowPolicy):
    recalls = True
    summarises = True

    def choose(self, older: Iterator[Unit], room: Room) -> Iterable[Unit]:
        return ()


class Everything(WindowPolicy):
    def choose(self, older: Iterator[Unit], room: Room) -> Iterable[Unit]:
        return older


class OneTooMany(WindowPolicy):
    def choose(self, older: Iterator[Unit], room: Room) -> Iterable[Unit]:
        tokens = 0
        for unit in older:
            yield unit
            tokens += unit.tokens
            if tokens > room.tokens:
                return


class Twice(WindowPolicy):
    def choose(self, older: Iterator[Unit], room: Room) -> Iterable[Unit]:
        return [unit for unit in room.take(older) for _ in range(2)]


class Shortened(WindowPolicy):
    """Says that its units are smaller than they are."""

    def choose(self, older: Iterator[Unit], room: Room) -> Iterable[Unit]:
        return [unit._replace(tokens=1) for unit in older]


class Torn(WindowPolicy):
    """Sends only the last message of a unit: of a tool turn a result without its call."""

    def choose(self, older: Iterator[Unit], room: Room) -> Iterable[Unit]:
        return [unit._replace(messages=unit.messages[-1:]) for unit in room.take(older)]


class Failing(WindowPolicy):
    def choose(self, older: Iterator[Unit], room: Room) -> Iterable[Unit]:
        raise ZeroDivisionError("a policy's own mistake")


OWN = (SlidingWindow, SlidingWindow, SlidingWithSummary, SlidingWithSummary, LastMessages, WholeConversation)
OBEDIENT = (EverySecond, OldestFirst, Nothing)
WRONG = (Everything, OneTooMany, Twice, Shortened, Torn, Failing)


def random_policy(randomly: random.Random, *, budget_tokens: int) -> WindowPolicy:
    """Return a policy whose limits are of the order of *budget_tokens*, where it has any."""
    kinds = randomly.choices((OWN, OBEDIENT, WRONG), weights=(80, 12, 8))[0]
    return randomly.choice(kinds)(**_values(randomly, budget_tokens))


def _values(randomly: random.Random, budget_tokens: int) -> dict[str, Any]:
    def rarely(share: float) -> int | None:
        return randomly.randint(1, 2 * budget_tokens) if randomly.random() < share else None

    return {
        "cap_tokens": rarely(0.2),
        "message_cap_tokens": rarely(0.1),
        "reply_reserve_tokens": rarely(0.1),
        "grounding_share": randomly.choice((0, 0.25, 0.5, 1, randomly.random())),
        "low_water_share": randomly.choice((1, 0.7, 0.7, 1 - randomly.random())),
        "last_messages": randomly.randint(1, 40),
        "skip_oversized": randomly.random() < 0.3,
        "recall_share": randomly.choice((0, 0.25, 0.25, 0.75, 1, randomly.random())),
        "summary_cap_tokens": randomly.choice((0, 1_000, 1_000, randomly.randint(1, budget_tokens))),
    }
