"""Turns at `/v1`: of one owner so many requests are worked on at once, and so many answers to earlier requests read."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from django.conf import settings

from conversations.core.errors import TooManyRequestsAtOnce
from conversations.live.user_turns import QueueFull, UserTurns
from conversations.models import ApiKey
from conversations.services.api.event_queue import EventQueue
from conversations.services.ledger.provider_attempts import finish_before_cancelling

from .api_view import in_database

Answer = TypeVar("Answer")
MOST_WAITING = 64  # requests of one owner that wait for their turn
MOST_READERS = 32  # of one owner, of answers that were asked for before: no other limit holds for them
_turns_of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, UserTurns] = WeakKeyDictionary()
_readers_of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Counter[int]] = WeakKeyDictionary()


async def in_turn(key: ApiKey, answer: Callable[..., Answer], *arguments: Any) -> Answer:
    """Run *answer* in a thread, for as many requests of the key's owner at once as `REQUESTS_PER_USER` says.

    Reading and counting takes the processor, and there are few threads. The others wait in their order, without a
    database connection and with their bodies unread. Raises `TooManyRequestsAtOnce` where too many wait.
    """
    turns = _turns()
    try:
        async with turns.turn(key.owner_id):
            # Its thread goes on where its client goes away, and keeps its turn.
            return await finish_before_cancelling(in_database(answer, *arguments))
    except QueueFull:
        raise TooManyRequestsAtOnce from None


def check_readers(owner_id: int) -> None:
    """Raise `TooManyRequestsAtOnce` where so many answers to earlier requests are being read already."""
    if _readers()[owner_id] >= MOST_READERS:
        raise TooManyRequestsAtOnce


def note_reader(owner_id: int, running: EventQueue) -> None:
    """Count *running* as an answer to an earlier request, until what fills it has ended."""
    readers = _readers()
    readers[owner_id] += 1
    running.when_filled(partial(_forget_reader, readers, owner_id))


def _forget_reader(readers: Counter[int], owner_id: int) -> None:
    readers[owner_id] -= 1
    if not readers[owner_id]:
        del readers[owner_id]


def _readers() -> Counter[int]:
    return _readers_of_loop.setdefault(asyncio.get_running_loop(), Counter())


def _turns() -> UserTurns:
    loop = asyncio.get_running_loop()
    if loop not in _turns_of_loop:
        _turns_of_loop[loop] = UserTurns(at_once=settings.REQUESTS_PER_USER, most_waiting=MOST_WAITING)
    return _turns_of_loop[loop]
