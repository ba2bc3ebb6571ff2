"""Threads for database calls from the event loop, each with a connection that goes back to the pool afterwards.

Sockets share the loop's own threads. The run worker has a crew of its own: when every other thread waits for the
database, replies must still be saved and leases prolonged. And so has what renders many messages at once: one user's
long conversation must not keep the others from sending. The indexer has one thread: whatever is there to be indexed, it
takes no more of the process than that; and so have imports. Looking up has its own, too: people may keep millions of
words to look in. So have requests at `/v1`, where a long body is counted; Django would start a thread for each. Pages
and all other requests with a synchronous view have one for each at once, up to 256 where the system gives so many: each
gives up by itself where no connection becomes free, and none waits for another to do so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar, copy_context
from functools import partial
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import close_old_connections

from chatsite.postgres.connection import long_work

from .thread_crew import ThreadCrew

P = ParamSpec("P")
R = TypeVar("R")

_loop: ContextVar[asyncio.AbstractEventLoop | None] = ContextVar("loop", default=None)
_rendering_threads = ThreadCrew("rendering", most_threads=2)
_indexer_threads = ThreadCrew("indexer", most_threads=1)
_importer_threads = ThreadCrew("importer", most_threads=1)
_look_up_threads = ThreadCrew("look-up", most_threads=3)
_api_threads = ThreadCrew("api", most_threads=8)
_request_threads = ThreadCrew("request", most_threads=256, idle_seconds=60)
_is_served: ContextVar[bool] = ContextVar("is_served", default=False)
_worker_threads = ThreadCrew("run-worker", most_threads=4)


def in_thread(function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """Return *function* to be awaited, for sockets."""
    return _in(None, function)


def in_rendering_thread(function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """Return *function* to be awaited, for what renders a conversation."""
    return _in(_rendering_threads, function)


def in_worker_thread(function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """Return *function* to be awaited, for the run worker."""
    return _in(_worker_threads, function)


def in_indexer_thread(function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """Return *function* to be awaited, for the indexer."""
    return _in(_indexer_threads, long_work()(function))


def in_importer_thread(function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """Return *function* to be awaited, for the importer."""
    return _in(_importer_threads, long_work()(function))


def in_request_thread(function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """Return *function* to be awaited, for requests that run in one thread as a whole."""
    return _in(_request_threads, function)


def in_look_up_thread(function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """Return *function* to be awaited, for searches among passages."""
    return _in(_look_up_threads, function)


def note_served() -> None:
    """Note that a server handles this request: `in_api_thread` may leave Django's thread for it."""
    _is_served.set(True)


def in_api_thread(function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """Return *function* to be awaited, for requests at `/v1`; without a server, as in tests, in Django's thread."""
    return _in(_api_threads, function) if _is_served.get() else sync_to_async(function)


def loop_of_thread() -> asyncio.AbstractEventLoop | None:
    """Return the event loop for which the present thread works, if it does."""
    loop = _loop.get()
    return None if loop is None or loop.is_closed() else loop


def _in(crew: ThreadCrew | None, function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """Return *function* to be awaited.

    As `channels.db.database_sync_to_async` without what only functions need that call coroutines themselves: that was a
    tenth of what a short reply costs. Of a cancellation a thread that has begun learns nothing.
    """

    async def call_in_thread(*arguments: P.args, **named: P.kwargs) -> R:
        loop = asyncio.get_running_loop()
        context = copy_context()
        context.run(_loop.set, loop)
        work = partial(_call, function, *arguments, **named)
        in_context = partial(context.run, work)
        return await (crew.call(in_context) if crew else loop.run_in_executor(None, in_context))

    call_in_thread.__name__ = getattr(function, "__name__", call_in_thread.__name__)  # all of `wraps` that is read
    return call_in_thread


def _call(function: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
    try:
        return function(*arguments, **named)
    finally:
        close_old_connections()  # back to the pool
