"""Crews: thread pools of the event loop, which call functions in the order in which they come.

As asyncio's `run_in_executor` with a `ThreadPoolExecutor`, which costs twice as much: for each call it has two futures,
locks and conditions of theirs, a weak reference and a semaphore (decision 116).
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from .stack_room import with_stack_room

R = TypeVar("R")
_Function = Callable[[], Any]
_Future = asyncio.Future[Any]
_Call = tuple[asyncio.AbstractEventLoop, _Future, _Function]
_Post = SimpleQueue[_Call | None]  # of one thread: what it is given


class ThreadCrew:
    """At most *most_threads* threads, each of which is started when a call would have to wait for the others.

    Fewer where the system gives no more: a container has a limit, which counts the threads of all its processes.

    The one that became idle last is given the next call. One that was given none for *idle_seconds* ends.
    """

    def __init__(self, name: str, *, most_threads: int, idle_seconds: float | None = None) -> None:
        self._name, self._most_threads, self._idle_seconds = name, most_threads, idle_seconds
        self._lock = threading.Lock()
        self._waiting: deque[_Call] = deque()  # while all threads are busy
        self._idle: list[_Post] = []
        self._threads: list[threading.Thread] = []
        self._started = 0
        self._has_ended = False
        _crews.append(self)

    def call(self, function: Callable[[], R]) -> asyncio.Future[R]:
        """Have a thread call *function*. If the future is cancelled before it begins, it is not called.

        A thread that has begun learns nothing of that: then its result is dropped, as where the loop is closed.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[R] = loop.create_future()
        call = loop, future, function
        with self._lock:
            if self._has_ended:
                raise RuntimeError(f"the crew {self._name} has ended, as the process does")
            if self._idle:
                self._idle.pop().put(call)
            elif len(self._threads) >= self._most_threads or not self._try_to_start_thread(call):
                self._waiting.append(call)
        return future

    def end(self) -> None:
        """Wait until all that was called has been done, and end the threads."""
        with self._lock:
            self._has_ended = True
            threads, idle, self._idle = tuple(self._threads), self._idle, []
        for post in idle:
            post.put(None)
        for thread in threads:
            thread.join()

    def _try_to_start_thread(self, call: _Call) -> bool:
        """Start a thread for *call*. False where the system gives no more: then it waits for those that there are.

        Raises `RuntimeError` where there is none that it could wait for.
        """
        try:
            self._start_thread(call)
        except RuntimeError:
            if not self._threads:
                raise
            return False
        return True

    def _start_thread(self, call: _Call) -> None:
        post: _Post = SimpleQueue()
        post.put(call)
        name = f"{self._name}_{self._started}"
        thread = threading.Thread(target=self._work, args=(post,), name=name, daemon=True)  # `_end_crews` waits for it
        thread.start()
        self._started += 1
        self._threads.append(thread)

    @with_stack_room
    def _work(self, post: _Post) -> None:
        while (call := self._next_call(post)) is not None:
            self._answer(post, *call)
            del call  # what it refers to would live until the next one comes

    def _next_call(self, post: _Post) -> _Call | None:
        """Return what this thread is given; None if it is to end."""
        try:
            return post.get(timeout=self._idle_seconds)
        except Empty:
            with self._lock:
                if post in self._idle:
                    self._idle.remove(post)
                    self._threads.remove(threading.current_thread())
                    return None
        return post.get()  # in that very moment it was given one

    def _answer(self, post: _Post, loop: asyncio.AbstractEventLoop, future: _Future, function: _Function) -> None:
        result, error = (None, None) if future.cancelled() else _outcome(function)
        with self._lock:  # before the loop learns of it, or its next call would start another thread
            if self._waiting:
                post.put(self._waiting.popleft())
            elif self._has_ended:
                post.put(None)
            else:
                self._idle.append(post)
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
