"""Crews of threads: as `run_in_executor` with a `ThreadPoolExecutor`, but for what they cost."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import subprocess
import sys
import threading
import weakref
from functools import partial

import pytest

from conversations.live import thread_crew
from conversations.live.thread_crew import ThreadCrew
from tests.support.waiting import wait_in_loop

# A process of its own: its main thread ends while a call runs and others wait for that.
ENDING = """
import asyncio, threading
from conversations.live.thread_crew import ThreadCrew

crew, may_end = ThreadCrew("ending", most_threads=1), threading.Event()

async def ask():
    begun = threading.Event()
    futures = [crew.call(lambda: (begun.set(), may_end.wait(), print("first")))]
    futures += [crew.call(lambda number=number: print(number)) for number in range(3)]
    await asyncio.to_thread(begun.wait)

asyncio.run(ask())
threading._register_atexit(lambda: (print("main"), may_end.set()))  # what is registered last is called first
"""


class Value:
    """Something that a weak reference may name."""


@pytest.fixture
def make_crew():
    """A function that makes a crew, which is gone after the test."""
    made = []

    def make(most_threads=2, idle_seconds=None):
        made.append(ThreadCrew("testers", most_threads=most_threads, idle_seconds=idle_seconds))
        return made[-1]

    yield make
    for crew in made:
        crew.end()
        thread_crew._crews.remove(crew)


def fail(error):
    raise error


def fail_with(seen):
    error = ValueError()
    error.value = Value()
    seen.append(weakref.ref(error.value))
    raise error


async def wait_in_thread(event):
    assert await asyncio.to_thread(event.wait, 60)


async def test_a_call_has_its_result_from_a_thread_with_a_name(make_crew):
    assert await make_crew().call(lambda: threading.current_thread().name) == "testers_0"


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()])
async def test_what_a_call_raises_is_raised_where_it_is_awaited_and_the_thread_goes_on(make_crew, error):
    crew = make_crew(most_threads=1)
    with pytest.raises(type(error)) as raised:
        await crew.call(partial(fail, error))
    assert str(raised.value) == str(error)
    assert await crew.call(lambda: 1) == 1
    assert len(crew._threads) == 1


async def test_an_error_that_no_future_takes_is_another_one(make_crew):
    with pytest.raises(RuntimeError, match="StopIteration"):
        await make_crew().call(lambda: next(iter(())))


async def test_calls_are_begun_in_the_order_in_which_they_come(make_crew):
    crew, begun = make_crew(most_threads=1), []
    await asyncio.gather(*(crew.call(partial(begun.append, number)) for number in range(50)))
    assert begun == list(range(50))


async def test_threads_are_started_as_far_as_they_are_needed(make_crew):
    crew = make_crew(most_threads=3)
    for _ in range(20):
        await crew.call(int)
    assert len(crew._threads) == 1
    may_end = threading.Event()
    waiting = [crew.call(may_end.wait) for _ in range(2)]
    assert len(crew._threads) == 2
    waiting += [crew.call(may_end.wait) for _ in range(5)]
    assert len(crew._threads) == 3
    may_end.set()
    assert await asyncio.gather(*waiting) == [True] * 7


async def test_the_thread_that_became_idle_last_is_called_first(make_crew):
    crew = make_crew(most_threads=3)
    may_end = [threading.Event() for _ in range(3)]
    waiting = [crew.call(lambda event=event: event.wait() and threading.get_ident()) for event in may_end]
    idents = []
    for event, each in zip(may_end, waiting, strict=True):
        event.set()
        idents.append(await each)
    assert len({*idents}) == 3
    assert [await crew.call(threading.get_ident) for _ in range(3)] == [idents[-1]] * 3


async def test_threads_that_are_given_nothing_end(make_crew):
    crew, may_end = make_crew(most_threads=3, idle_seconds=0.01), threading.Event()
    waiting = [crew.call(may_end.wait) for _ in range(5)]
    may_end.set()
    await asyncio.gather(*waiting)
    await wait_in_loop(lambda: crew._threads == [])
    assert await crew.call(lambda: 1) == 1


async def test_no_call_is_lost_while_threads_end(make_crew):
    crew = make_crew(most_threads=3, idle_seconds=0)
    for number in range(2_000):
        assert await crew.call(lambda number=number: number) == number


async def test_where_the_system_gives_no_more_threads_calls_wait_for_those_there_are(make_crew, monkeypatch):
    crew, may_end = make_crew(most_threads=3), threading.Event()
    running = crew.call(may_end.wait)
    monkeypatch.setattr(threading.Thread, "start", partial(fail, RuntimeError("can't start new thread")))
    waiting = [crew.call(lambda number=number: number) for number in range(2)]
    may_end.set()
    assert await running
    assert await asyncio.gather(*waiting) == [0, 1]
    assert len(crew._threads) == 1


async def test_a_call_that_no_thread_could_answer_is_refused(make_crew, monkeypatch):
    crew = make_crew()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", partial(fail, RuntimeError("can't start new thread")))
        with pytest.raises(RuntimeError, match="can't start"):
            crew.call(int)
    assert await crew.call(int) == 0


async def test_a_call_that_is_cancelled_before_it_begins_is_not_made(make_crew):
    crew, may_end, called = make_crew(most_threads=1), threading.Event(), []
    running, waiting = crew.call(may_end.wait), crew.call(partial(called.append, 1))
    waiting.cancel()
    may_end.set()
    assert await running
    assert await crew.call(lambda: 2) == 2
    assert not called


@pytest.mark.parametrize("error", [None, ValueError("too late")])
async def test_the_result_of_a_call_that_was_cancelled_is_dropped(make_crew, error):
    crew, begun, may_end, told = make_crew(most_threads=1), threading.Event(), threading.Event(), []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))

    def work():
        begun.set()
        may_end.wait()
        if error:
            raise error

    awaiting = asyncio.ensure_future(crew.call(work))
    await wait_in_thread(begun)
    awaiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await awaiting
    may_end.set()
    assert await crew.call(lambda: 2) == 2
    assert told == []


def test_a_loop_that_is_closed_meanwhile_hears_nothing(make_crew, capfd):
    crew, begun, may_end = make_crew(most_threads=1), threading.Event(), threading.Event()

    async def ask():
        task = asyncio.ensure_future(crew.call(lambda: (begun.set(), may_end.wait())))
        await wait_in_thread(begun)
        task.cancel()

    asyncio.run(ask())
    may_end.set()
    assert asyncio.run(ask_once(crew)) == 1
    assert capfd.readouterr().err == ""


async def ask_once(crew):
    return await crew.call(lambda: 1)


def test_several_loops_share_a_crew(make_crew):
    crew, results = make_crew(most_threads=2), []
    threads = [threading.Thread(target=lambda: results.append(asyncio.run(ask_once(crew)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [1] * 8


async def test_nothing_of_a_call_is_kept_until_the_next_one(make_crew):
    crew, value = make_crew(most_threads=1), Value()
    seen = [weakref.ref(value)]
    await crew.call(partial(lambda each: each, value))
    with contextlib.suppress(ValueError):
        await crew.call(partial(fail_with, seen))
    del value
    await wait_in_loop(lambda: (gc.collect(), [each() for each in seen])[1] == [None, None])


async def test_a_crew_that_has_ended_takes_no_more_calls(make_crew):
    crew, done = make_crew(), []
    calls = [crew.call(partial(done.append, number)) for number in range(5)]
    crew.end()
    assert sorted(done) == list(range(5))
    await asyncio.gather(*calls)
    assert not any(thread.is_alive() for thread in crew._threads)
    with pytest.raises(RuntimeError, match="ended"):
        crew.call(int)


def test_a_process_ends_when_all_that_was_called_is_done():
    ended = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.split() == ["main", "first", "0", "1", "2"]
