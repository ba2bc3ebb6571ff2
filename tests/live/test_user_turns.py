"""Each user's work is done so much at once, in its order; another user's is not in its way."""

from __future__ import annotations

import asyncio

import pytest

from conversations.live import user_turns
from conversations.live.user_turns import CROWD, QueueFull, UserTurns


class Work:
    """Pieces of work that hold their turns until they are let go."""

    def __init__(self, **limits):
        self.turns = UserTurns(**limits)
        self.begun, self.tasks, self.ways_out = [], {}, {}

    async def ask(self, user, name):
        self.ways_out[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._do(user, name))
        await settle()

    async def _do(self, user, name):
        async with self.turns.turn(user):
            self.begun.append(name)
            await self.ways_out[name].wait()

    async def end(self, name):
        self.ways_out[name].set()
        await asyncio.wait([self.tasks[name]])
        await settle()


async def settle():
    for _ in range(5):
        await asyncio.sleep(0)


async def test_what_is_too_much_at_once_waits_in_its_order_and_others_do_not():
    work = Work(at_once=2, most_waiting=9)
    for name in "abcd":
        await work.ask("eve", name)
    await work.ask("alice", "x")
    assert work.begun == ["a", "b", "x"]
    await work.end("b")
    assert work.begun == ["a", "b", "x", "c"]
    await work.end("a")
    assert work.begun[-1] == "d"


async def test_a_full_queue_refuses_and_is_free_again_later(monkeypatch):
    monkeypatch.setattr(user_turns, "REFUSAL_SECONDS", 0)
    work = Work(at_once=1, most_waiting=1)
    for name in "abc":
        await work.ask("eve", name)
    assert isinstance(work.tasks["c"].exception(), QueueFull)
    for name in "ab":
        await work.end(name)
    await work.ask("eve", "d")
    assert work.begun == ["a", "b", "d"]


async def test_the_refusal_comes_after_a_moment():
    """Or who asks again at once would keep the process busy with refusals."""
    work = Work(at_once=1, most_waiting=0)
    for name in "ab":
        await work.ask("eve", name)
    assert not work.tasks["b"].done()
    work.tasks["b"].cancel()
    await work.end("a")


async def test_who_leaves_the_queue_costs_no_turn():
    work = Work(at_once=1, most_waiting=9)
    for name in "abc":
        await work.ask("eve", name)
    work.tasks["b"].cancel()
    await settle()
    await work.end("a")
    assert work.begun == ["a", "c"]
    await work.end("c")
    assert not work.turns._taken
    assert not work.turns._waiting


async def test_who_leaves_at_the_moment_of_the_turn_passes_it_on():
    work = Work(at_once=1, most_waiting=9)
    for name in "abc":
        await work.ask("eve", name)
    work.ways_out["a"].set()
    await asyncio.wait([work.tasks["a"]])
    work.tasks["b"].cancel()  # it has been given the turn, and does not know it yet
    await settle()
    assert work.begun[-1] == "c"


async def test_the_turns_of_a_crowd_have_pauses_between_them():
    work = Work(at_once=1, most_waiting=99)
    for number in range(CROWD + 2):
        await work.ask("eve", number)
    await asyncio.sleep(0.05)
    work.ways_out[0].set()
    await asyncio.wait([work.tasks[0]])
    await settle()
    assert work.begun == [0]
    async with asyncio.timeout(60):
        while len(work.begun) < 2:
            await asyncio.sleep(0.005)


async def test_a_pause_has_a_shortest_length(monkeypatch):
    """Where most of the work is outside of the turn. Only in a crowd."""
    monkeypatch.setattr(user_turns, "LONGEST_PAUSE_SECONDS", 0)  # by what the turn took there would be none
    work = Work(at_once=1, most_waiting=99, shortest_pause_seconds=3600)
    for number in range(CROWD + 2):
        await work.ask("eve", number)
    for number in range(2):
        await work.ask("alice", f"alice {number}")
    await work.end(0)
    await work.end("alice 0")
    await settle()
    assert work.begun == [0, "alice 0", "alice 1"]
    for task in work.tasks.values():
        task.cancel()


@pytest.mark.parametrize("count", [1, CROWD])
async def test_what_a_page_asks_for_has_no_pauses(count):
    work = Work(at_once=1, most_waiting=99)
    for number in range(count + 1):
        await work.ask("eve", number)
    await asyncio.sleep(0.02)
    await work.end(0)
    assert work.begun == [0, 1]
