from __future__ import annotations

import asyncio
from contextlib import closing

import pytest

from conversations.providers.waiting import Patience, Timeouts

QUICK = Timeouts(first_byte_seconds=0.05, idle_seconds=0.05, total_seconds=30)


async def for_ever() -> None:
    await asyncio.Event().wait()


async def wait_often(patience: Patience, *, chunks: bool) -> None:
    while True:
        with patience:
            await asyncio.sleep(0.01)
        if chunks:
            patience.chunk_came()


@pytest.fixture
async def patience():
    with closing(Patience(QUICK)) as patience:
        yield patience


async def test_a_wait_that_takes_too_long_is_ended(patience):
    with pytest.raises(TimeoutError), patience:
        await for_ever()
    assert not asyncio.current_task().cancelling()


async def test_each_chunk_begins_the_wait_anew():
    """Together they take longer than one may; alone each has three times as long as it takes, on a busy machine too."""
    with closing(Patience(Timeouts(first_byte_seconds=1, idle_seconds=1, total_seconds=30))) as patience:
        for _ in range(5):
            with patience:
                await asyncio.sleep(0.3)
            patience.chunk_came()


async def test_what_is_no_chunk_prolongs_nothing(patience):
    with pytest.raises(TimeoutError):
        await wait_often(patience, chunks=False)


async def test_the_whole_has_an_end_however_fast_chunks_come():
    with closing(Patience(Timeouts(total_seconds=0.1))) as patience, pytest.raises(TimeoutError):
        await wait_often(patience, chunks=True)


async def test_time_that_is_not_waited_does_not_count():
    """What is waited for has nearly a second, so that a busy machine makes it in time."""
    with closing(Patience(Timeouts(first_byte_seconds=0.9, idle_seconds=0.9, total_seconds=30))) as patience:
        await asyncio.sleep(1)
        with patience:
            await asyncio.sleep(0.01)


async def test_somebody_elses_cancellation_stays_one(patience):
    async def wait():
        with patience:
            await for_ever()

    waiting = asyncio.create_task(wait())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_cancellation_within_the_same_moment_is_not_swallowed(patience):
    async def wait():
        with patience:
            await for_ever()

    waiting = asyncio.create_task(wait())
    await asyncio.sleep(0)
    patience._until = 0
    patience._look()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
