"""Crews: thread pools of the event loop, which call functions in the order in which they come.

As asyncio's `run_in_executor` with a `ThreadPoolExecutor`, which costs twice as much: for each call it has two futures,
locks and conditions of theirs, a weak reference and a semaphore (decision 116).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, TypeVar

R = TypeVar("R")
_Function = Callable[[], Any]
_Call = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", _Function]


class ThreadCrew:
    """At most *most_threads* threads, each of which is started when a call would have to wait for the others."""

    def __init__(self, name: str, *, most_threads: int) -> None:
        self._name, self._most_threads = name, most_threads
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._unfinished = 0
        self._threads: list[threading.Thread] = []
        self._has_ended = False
        _crews.append(self)

    def call(self, function: Callable[[], R]) -> asyncio.Future[R]:
        """Have a thread call *function*. If the future is cancelled before it begins, it is not called.

        A thread that has begun learns nothing of that: then its result is dropped, as where the loop is closed.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[R] = loop.create_future()
        with self._lock:
            if self._has_ended:
                raise RuntimeError(f"the crew {self._name} has ended, as the process does")
            if len(self._threads) < min(self._unfinished + 1, self._most_threads):
                self._start_thread()
            self._unfinished += 1
            self._calls.put((loop, future, function))
        return future

    def end(self) -> None:
        """Wait until all that was called has been done, and end the threads."""
        with self._lock:
            self._has_ended = True
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()

    def _start_thread(self) -> None:
        name = f"{self._name}_{len(self._threads)}"
        thread = threading.Thread(target=self._work, name=name, daemon=True)  # `_end_crews` waits for it
        thread.start()
        self._threads.append(thread)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            self._answer(*call)
            del call  # what it refers to would live until the next one comes

    def _answer(self, loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], function: _Function) -> None:
        result, error = (None, None) if future.cancelled() else _outcome(function)
        with self._lock:  # before the loop learns of it, or its next call would start another thread
            self._unfinished -= 1
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(_set_outcome, future, result, error)


def _outcome(function: _Function) -> tuple[Any, BaseException | None]:
    """Return what *function* returns, or whatever it raises.

    Within a function of its own, as the error refers to its frame: with the future they would be a cycle.
    """
    try:
        return function(), None
    except BaseException as error:
        return None, error


def _set_outcome(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.cancelled():
        return
    if error is None:
        future.set_result(result)
    elif isinstance(error, StopIteration):  # no future takes it
        future.set_exception(RuntimeError("StopIteration was raised in a thread"))
    else:
        future.set_exception(error)


_crews: list[ThreadCrew] = []


def _end_crews() -> None:
    for crew in _crews:
        crew.end()


# When the main thread has ended, and before what `atexit` calls: as the threads of a `ThreadPoolExecutor` end.
threading._register_atexit(_end_crews)  # type: ignore[attr-defined]  # not in the stubs
