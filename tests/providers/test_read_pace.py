"""Streams whose pieces come fast are read together, in turns; slow ones and large pieces wait for none."""

from __future__ import annotations

import asyncio

import pytest

from conversations.providers.clients.read_pace import (
    CLOSE_SECONDS,
    LARGE_BYTES,
    SOON_SECONDS,
    TURN_SECONDS,
    ReadPace,
    ReadTurns,
)

SMALL, LARGE = b"data: {}\n\n", b"x" * LARGE_BYTES


class ClockedLoop(asyncio.SelectorEventLoop):
    """A loop whose clock goes on only as it is told, and at once to what is scheduled next."""

    now = 100.0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:
            self.now = max(self.now, self._scheduled[0].when())
        super()._run_once()


@pytest.fixture
def runner():
    with asyncio.Runner(loop_factory=ClockedLoop) as runner:
        yield runner


async def seconds_waited(pace: ReadPace, piece: bytes, *, after_seconds: float) -> float:
    loop = asyncio.get_running_loop()
    loop.now += after_seconds
    began = loop.now
    await pace.wait_after(piece)
    return loop.now - began


def test_the_first_piece_waits_for_no_turn(runner):
    async def first():
        return await seconds_waited(ReadPace(ReadTurns()), SMALL, after_seconds=0)

    assert runner.run(first()) == 0


def test_a_piece_soon_after_another_waits_for_the_next_turn(runner):
    async def second():
        pace = ReadPace(ReadTurns())
        await pace.wait_after(SMALL)
        waited = await seconds_waited(pace, SMALL, after_seconds=0.001)
        return waited, asyncio.get_running_loop().now % TURN_SECONDS

    waited, past_turn = runner.run(second())
    assert SOON_SECONDS <= waited <= TURN_SECONDS + SOON_SECONDS
    assert min(past_turn, TURN_SECONDS - past_turn) < 1e-6


@pytest.mark.parametrize(
    ("piece", "after_seconds"), [(SMALL, CLOSE_SECONDS + 0.001), (LARGE, 0.001)], ids=["slow", "large"]
)
def test_what_gains_nothing_by_a_turn_waits_for_none(runner, piece, after_seconds):
    async def second():
        pace = ReadPace(ReadTurns())
        await pace.wait_after(SMALL)
        return await seconds_waited(pace, piece, after_seconds=after_seconds)

    assert runner.run(second()) == 0


def test_without_turns_no_piece_waits(runner):
    async def second():
        pace = ReadPace(None)
        await pace.wait_after(SMALL)
        return await seconds_waited(pace, SMALL, after_seconds=0.001)

    assert runner.run(second()) == 0


def test_one_timer_wakes_all_streams_that_wait(runner):
    async def many():
        loop = asyncio.get_running_loop()
        turns = ReadTurns()
        waits = [asyncio.create_task(turns.wait()) for _ in range(50)]
        await asyncio.sleep(0)
        timers = len(loop._scheduled)
        waits[0].cancel()  # a stream that is closed meanwhile wakes none and holds up none
        await asyncio.gather(*waits[1:])
        return timers, loop.now

    timers, now = runner.run(many())
    assert timers == 1
    assert now - 100 <= TURN_SECONDS + SOON_SECONDS


def test_turns_go_on_after_one_in_which_all_were_closed(runner):
    async def again():
        turns = ReadTurns()
        closed = asyncio.create_task(turns.wait())
        await asyncio.sleep(0)
        closed.cancel()
        await turns.wait()
        await turns.wait()
        return asyncio.get_running_loop().now - 100

    assert TURN_SECONDS < runner.run(again()) <= 2 * TURN_SECONDS + SOON_SECONDS
