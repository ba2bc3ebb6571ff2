"""Where functions run that are tools: the site's own in threads, our async built-in ones on the site's event loop.

With a thread of its own, a function that hangs, even an async one, holds up nothing else. A thread can't be ended from
outside: one that is no longer waited for is abandoned, and counted until it ends.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from asyncio import AbstractEventLoop, Future, Task
from collections.abc import Awaitable, Callable
from contextlib import suppress
from threading import Thread
from typing import Any, Final

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.db import connections
from pydantic_core import to_json

from conversations.core.errors import ToolBusy, ToolError, ToolTimedOut

NOTHING_RETURNED: Final = "done"
logger = logging.getLogger(__name__)
MOST_ABANDONED = 4
LONGEST_MESSAGE = 500  # of an exception; characters
Work = Callable[[], Any]


class ThreadRunner:
    """Runs the function of one tool, each call in a thread of its own."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._abandoned: list[Thread] = []

    async def run(self, work: Work, *, timeout_seconds: float) -> str:
        """Return what *work* returns, awaited if need be, as text.

        Raises `ToolTimedOut`, `ToolBusy` while too many earlier calls hang, or a `ToolError` with what *work* raised.
        """
        self._abandoned = [thread for thread in self._abandoned if thread.is_alive()]
        if len(self._abandoned) >= MOST_ABANDONED:
            raise ToolBusy
        call = _Call(work, self._name)
        try:
            async with asyncio.timeout(timeout_seconds):
                outcome = await call.outcome
        except TimeoutError as error:
            raise ToolTimedOut from error
        finally:
            if not call.outcome.done() or call.outcome.cancelled():
                self._abandoned.append(call.thread)
                call.abandon()
        if isinstance(outcome, ToolError):
            raise outcome
        return outcome


class _Call:
    """One call, begun at once. *outcome* is its text, or the error: a tool's exception never ends its caller."""

    def __init__(self, work: Work, name: str) -> None:
        self._work = work
        self._name = name
        self._loop = asyncio.get_running_loop()
        self._inner: tuple[AbstractEventLoop, Task[Any]] | None = None
        self._is_abandoned = False
        self.outcome: Future[str | ToolError] = self._loop.create_future()
        # A daemon, so that a hung one does not keep the process from ending.
        self.thread = Thread(target=self._run, name=f"tool-{name}", daemon=True)
        self.thread.start()

    def abandon(self) -> None:
        """Stop an async function where it waits. Any other goes on, and what it raises is ignored."""
        self._is_abandoned = True
        if self._inner:
            loop, task = self._inner
            with suppress(RuntimeError):  # it has just ended
                loop.call_soon_threadsafe(task.cancel)

    def _run(self) -> None:
        outcome = self._run_safely()
        with suppress(RuntimeError):  # the loop is closed: nothing waits any more
            self._loop.call_soon_threadsafe(self._settle, outcome)

    def _settle(self, outcome: str | ToolError) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)

    def _run_safely(self) -> str | ToolError:
        try:
            return self._text()
        except ToolError as error:
            return error
        except BaseException as error:  # SystemExit as well: a tool ends itself and nothing else
            if not self._is_abandoned:
                logger.exception("the tool %s failed", self._name)
            return ToolError(detail=_describe(error))

    def _text(self) -> str:
        try:
            value = self._work()
            return result_text(asyncio.run(self._in_own_loop(value)) if inspect.isawaitable(value) else value)
        finally:
            connections.close_all()

    async def _in_own_loop(self, value: Awaitable[Any]) -> Any:
        task: Task[Any] = asyncio.current_task()  # type: ignore[assignment]  # there is one
        self._inner = asyncio.get_running_loop(), task
        if self._is_abandoned:  # before there was anything to stop
            task.cancel()
        async with ThreadSensitiveContext():
            try:
                return await value
            finally:
                await sync_to_async(connections.close_all)()


def _describe(error: BaseException) -> str:
    """Return an exception as text for a language model; it may not even have a text of its own."""
    try:
        message = str(error)
    except Exception:
        message = ""
    return f"{type(error).__name__}: {message}"[:LONGEST_MESSAGE].removesuffix(": ")


def result_text(value: Any) -> str:
    """Return a result as text: a string as it is, else JSON; what JSON can't hold as Python writes it."""
    if value is None:
        return NOTHING_RETURNED
    if isinstance(value, str):
        return str(value)
    return to_json(value, fallback=str, bytes_mode="base64", inf_nan_mode="constants").decode()


class LoopRunner:
    """Runs built-in async functions where the site's connections live; they never hold the event loop up."""

    async def run(self, work: Callable[[], Awaitable[Any]], *, timeout_seconds: float) -> str:
        """Return what *work* returns, as text. Raises `ToolTimedOut`, or what *work* raises."""
        try:
            async with asyncio.timeout(timeout_seconds):
                return result_text(await work())
        except TimeoutError as error:
            raise ToolTimedOut from error
