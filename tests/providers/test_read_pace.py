"""Streams whose pieces come fast are read together, in turns; slow ones and large pieces wait for none."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import pairwise

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
    rounds = 0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:
            self.now = max(self.now, self._scheduled[0].when())
        self.rounds += 1
        super()._run_once()


@pytest.fixture
def runner():
    with asyncio.Runner(loop_factory=ClockedLoop) as runner:
        yield runner


class Transport(asyncio.Transport):
    """A connection on which something waits to be read at any time, unless it is paused."""

    def __init__(self) -> None:
        super().__init__()
        self._readable = asyncio.Event()
        self._readable.set()
        self._is_closing = False

    def is_closing(self) -> bool:
        return self._is_closing

    def close(self) -> None:
        self._is_closing = True

    def pause_reading(self) -> None:
        assert not self._is_closing
        self._readable.clear()

    def resume_reading(self) -> None:
        assert not self._is_closing
        self._readable.set()

    def abort(self) -> None:
        self._is_closing = True

    async def read(self) -> None:
        await self._readable.wait()


class StuckTransport(Transport):
    """A connection that can be paused, and not be read on; to end it raises as well."""

    def resume_reading(self) -> None:
        raise RuntimeError("stuck")

    def abort(self) -> None:
        super().abort()
        raise RuntimeError("stuck")


class Stream:
    """A stream of a provider, read at its pace."""

    def __init__(self, turns: ReadTurns | None) -> None:
        self.transport = Transport()
        self._pace = ReadPace(turns, lambda: self.transport)

    async def wait_after(self, piece: bytes) -> None:
        await self._pace.wait_after(piece)
        await self.transport.read()


async def seconds_waited(stream: Stream, piece: bytes, *, after_seconds: float) -> float:
    loop = asyncio.get_running_loop()
    loop.now += after_seconds
    began = loop.now
    await stream.wait_after(piece)
    return loop.now - began


def test_the_first_piece_waits_for_no_turn(runner):
    async def first():
        return await seconds_waited(Stream(ReadTurns()), SMALL, after_seconds=0)

    assert runner.run(first()) == 0


def test_a_piece_soon_after_another_waits_for_the_next_turn(runner):
    async def second():
        stream = Stream(ReadTurns())
        await stream.wait_after(SMALL)
        waited = await seconds_waited(stream, SMALL, after_seconds=0.001)
        return waited, asyncio.get_running_loop().now % TURN_SECONDS

    waited, past_turn = runner.run(second())
    assert SOON_SECONDS <= waited <= TURN_SECONDS + SOON_SECONDS
    assert min(past_turn, TURN_SECONDS - past_turn) < 1e-6


@pytest.mark.parametrize(
    ("piece", "after_seconds"), [(SMALL, CLOSE_SECONDS + 0.001), (LARGE, 0.001)], ids=["slow", "large"]
)
def test_what_gains_nothing_by_a_turn_waits_for_none(runner, piece, after_seconds):
    async def second():
        stream = Stream(ReadTurns())
        await stream.wait_after(SMALL)
        return await seconds_waited(stream, piece, after_seconds=after_seconds)

    assert runner.run(second()) == 0


def test_without_turns_no_piece_waits(runner):
    async def second():
        stream = Stream(None)
        await stream.wait_after(SMALL)
        return await seconds_waited(stream, SMALL, after_seconds=0.001)

    assert runner.run(second()) == 0


def test_one_timer_wakes_all_streams_that_wait(runner):
    async def many():
        loop = asyncio.get_running_loop()
        turns = ReadTurns()
        streams = [Stream(turns) for _ in range(50)]
        for stream in streams:
            await stream.wait_after(SMALL)
        waits = [asyncio.create_task(stream.wait_after(SMALL)) for stream in streams]
        await asyncio.sleep(0)
        timers = len(loop._scheduled)
        streams[0].transport.close()  # one that is closed meanwhile is not read on, and holds up none
        waits[0].cancel()
        await asyncio.gather(*waits[1:])
        return timers, loop.now

    timers, now = runner.run(many())
    assert timers == 1
    assert now - 100 <= TURN_SECONDS + SOON_SECONDS


def test_a_connection_that_cannot_be_read_on_ends_alone(runner, caplog):
    async def many():
        turns = ReadTurns()
        transports = [StuckTransport() if number % 2 else Transport() for number in range(6)]
        for transport in transports:
            turns.pause(transport, LARGE_BYTES // 2)  # they are woken two at a time
        async with asyncio.timeout(CLOSE_SECONDS):
            for transport in transports[::2]:
                await transport.read()
            await turns.let_others(LARGE_BYTES)
        return [transport.is_closing() for transport in transports]

    assert runner.run(many()) == [False, True] * 3
    assert [str(record.exc_info[1]) for record in caplog.records] == ["stuck"] * 3


def test_turns_go_on_after_one_in_which_all_were_closed(runner):
    async def again():
        turns = ReadTurns()
        closed, other = Transport(), Transport()
        turns.pause(closed, len(SMALL))
        closed.close()
        for _ in range(2):
            turns.pause(other, len(SMALL))
            await other.read()
        return asyncio.get_running_loop().now - 100

    assert TURN_SECONDS < runner.run(again()) <= 2 * TURN_SECONDS + SOON_SECONDS


def test_a_connection_that_is_closing_is_not_paused(runner):
    async def second():
        stream = Stream(ReadTurns())
        await stream.wait_after(SMALL)
        stream.transport.close()
        return await seconds_waited(stream, SMALL, after_seconds=0.001)

    assert runner.run(second()) == 0


def test_without_a_connection_no_piece_waits(runner):
    async def second():
        pace, loop = ReadPace(ReadTurns(), lambda: None), asyncio.get_running_loop()
        for _ in range(2):
            await pace.wait_after(SMALL)
        return loop.now - 100

    assert runner.run(second()) == 0


async def rounds_of_pieces(piece, closed=()):
    """Return in which round of the loop each of 40 streams read each of its five pieces."""
    loop, turns, rounds = asyncio.get_running_loop(), ReadTurns(), {}

    async def read(number):
        for _ in range(5):
            rounds.setdefault(number, []).append(loop.rounds)
            await streams[number].wait_after(piece)

    streams = [Stream(turns) for _ in range(40)]
    readings = [asyncio.create_task(read(number)) for number in range(40)]
    await asyncio.sleep(0)
    for number in closed:
        streams[number].transport.close()
        readings[number].cancel()
    await asyncio.gather(*readings, return_exceptions=True)
    return rounds


def test_of_streams_with_large_pieces_one_is_read_in_each_round_of_the_loop(runner):
    rounds = runner.run(rounds_of_pieces(LARGE))
    after_the_first = Counter(number for stream in rounds.values() for number in stream[1:])
    assert max(after_the_first.values()) == 1
    assert [len(stream) for stream in rounds.values()] == [5] * 40
    assert max(stream[-1] for stream in rounds.values()) <= 4 * 40 + 5
    assert all(later - earlier < 45 for stream in rounds.values() for earlier, later in pairwise(stream))


def test_of_streams_with_nearly_large_pieces_few_are_read_in_each_round(runner):
    rounds = runner.run(rounds_of_pieces(b"x" * (LARGE_BYTES // 3)))
    in_turns = Counter(number for stream in rounds.values() for number in stream[2:])
    assert max(in_turns.values()) <= 4


def test_streams_with_small_pieces_are_all_read_in_one_round(runner):
    rounds = runner.run(rounds_of_pieces(SMALL))
    assert len({number for stream in rounds.values() for number in stream[1:]}) <= 5


def test_a_turn_lets_no_more_go_on_in_a_round_that_has_large_pieces(runner):
    async def rounds_of_all():
        turns, rounds, loop = ReadTurns(), [], asyncio.get_running_loop()

        async def read(piece):
            stream = Stream(turns)
            await stream.wait_after(SMALL)
            for _ in range(20):
                await stream.wait_after(piece)
                rounds.append((loop.rounds, len(piece)))
                loop.now += 0.005  # to deal with it takes a while: turns come in between

        await asyncio.gather(*(read(LARGE) for _ in range(10)), *(read(b"x" * 9_000) for _ in range(10)))
        return rounds

    by_round = Counter()
    for number, size in runner.run(rounds_of_all())[1:]:
        by_round[number] += size
    assert max(by_round.values()) <= 3 * LARGE_BYTES


def test_after_large_pieces_the_loop_is_left_free_for_as_long(runner):
    async def seconds_taken():
        loop, turns = asyncio.get_running_loop(), ReadTurns()

        async def read():
            stream = Stream(turns)
            for _ in range(10):
                loop.now += 0.005  # to deal with the piece
                await stream.wait_after(LARGE)

        began = loop.now
        await asyncio.gather(*(read() for _ in range(10)))
        return loop.now - began

    dealing = 10 * 10 * 0.005
    assert dealing * 1.7 < runner.run(seconds_taken()) < dealing * 2.1


def test_streams_that_are_closed_hold_up_no_other(runner):
    rounds = runner.run(rounds_of_pieces(LARGE, closed=range(0, 40, 2)))
    assert [len(rounds[stream]) for stream in range(1, 40, 2)] == [5] * 20
