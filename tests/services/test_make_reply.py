"""What a stop does to a request that is about to leave."""

from __future__ import annotations

import asyncio
import datetime as dt
import gc
import weakref
from contextlib import suppress

import pytest

from conversations.core.errors import MoneyUsedUp
from conversations.services.ledger.provider_attempts import finish_before_cancelling
from tests.support.waiting import wait_in_loop


async def test_a_stop_wins_over_a_refusal_that_comes_at_the_same_time():
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def refuse_then():
        begun.set()
        await stopped.wait()
        raise MoneyUsedUp(opens_at=dt.datetime.now(dt.UTC))

    seeing = asyncio.create_task(finish_before_cancelling(refuse_then()))
    await begun.wait()
    seeing.cancel("the reason")
    stopped.set()
    with pytest.raises(asyncio.CancelledError, match="the reason"):
        await seeing


async def test_what_a_refused_request_held_is_free_at_once():
    """An error has the frames that it came through: the megabytes of a refused request would wait for the collector."""

    class Held:
        """The body of a request."""

    seen = []

    async def refuse():
        body = Held()
        seen.append(weakref.ref(body))
        raise MoneyUsedUp(opens_at=dt.datetime.now(dt.UTC))

    gc.collect()
    gc.disable()
    try:
        with suppress(MoneyUsedUp):
            await finish_before_cancelling(refuse())
        await wait_in_loop(lambda: seen[0]() is None)  # what woke this up has the error, too
    finally:
        gc.enable()
