"""Run somebody's function in a thread of its own, so that one that hangs, even an async one, holds up nobody.

A thread can't be ended from outside: one that is not waited for any longer is left alone, and counted until it ends.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from asyncio import AbstractEventLoop, Future, Task
from collections.abc import Awaitable, Callable
from contextlib import suppress
from threading import Thread
from typing import Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.db import connections

from conversations.core.errors import ToolBusy, ToolError, ToolTimedOut

from .result_text import as_text

logger = logging.getLogger(__name__)
MOST_LEFT_ALONE = 4
LONGEST_MESSAGE = 500  # of an exception; characters
Work = Callable[[], Any]


class OwnThreads:
    """The threads of one tool, one for each call."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._left_alone: list[Thread] = []

    async def run(self, work: Work, *, timeout_seconds: float) -> str:
        """Return what *work* returns, awaited if need be, as text.

        Raises `ToolTimedOut`, `ToolBusy` while too many earlier calls hang, or a `ToolError` with what *work* raised.
        """
        self._left_alone = [thread for thread in self._left_alone if thread.is_alive()]
        if len(self._left_alone) >= MOST_LEFT_ALONE:
            raise ToolBusy
        call = _Call(work, self._name)
        try:
            async with asyncio.timeout(timeout_seconds):
                outcome = await call.outcome
        except TimeoutError as error:
            raise ToolTimedOut from error
        finally:
            if not call.outcome.done() or call.outcome.cancelled():
                self._left_alone.append(call.thread)
                call.leave()
        if isinstance(outcome, ToolError):
            raise outcome
        return outcome


class _Call:
    """One call, begun at once. *outcome* is its text, or the error: what a tool raises never ends who waits for it."""

    def __init__(self, work: Work, name: str) -> None:
        self._work = work
        self._name = name
        self._loop = asyncio.get_running_loop()
        self._inner: tuple[AbstractEventLoop, Task[Any]] | None = None
        self._is_left = False
        self.outcome: Future[str | ToolError] = self._loop.create_future()
        # A daemon, so that a hung one does not keep the process from ending.
        self.thread = Thread(target=self._run, name=f"tool-{name}", daemon=True)
        self.thread.start()

    def leave(self) -> None:
        """Stop an async function where it waits. Any other goes on, and what it raises is nobody's concern."""
        self._is_left = True
        if self._inner:
            loop, task = self._inner
            with suppress(RuntimeError):  # it has just ended
                loop.call_soon_threadsafe(task.cancel)

    def _run(self) -> None:
        outcome = self._made()
        with suppress(RuntimeError):  # nobody waits any more: the loop is closed
            self._loop.call_soon_threadsafe(self._settle, outcome)

    def _settle(self, outcome: str | ToolError) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)

    def _made(self) -> str | ToolError:
        try:
            return self._text()
        except ToolError as error:
            return error
        except BaseException as error:  # SystemExit as well: a tool ends itself and nothing else
            if not self._is_left:
                logger.exception("the tool %s failed", self._name)
            return ToolError(detail=_told(error))

    def _text(self) -> str:
        try:
            value = self._work()
            return as_text(asyncio.run(self._in_own_loop(value)) if inspect.isawaitable(value) else value)
        finally:
            connections.close_all()

    async def _in_own_loop(self, value: Awaitable[Any]) -> Any:
        task: Task[Any] = asyncio.current_task()  # type: ignore[assignment]  # there is one
        self._inner = asyncio.get_running_loop(), task
        if self._is_left:  # before there was anything to stop
            task.cancel()
        async with ThreadSensitiveContext():
            try:
                return await value
            finally:
                await sync_to_async(connections.close_all)()


def _told(error: BaseException) -> str:
    """Return what a language model is told of an exception, which may not even be able to say what it is."""
    try:
        message = str(error)
    except Exception:
        message = ""
    return f"{type(error).__name__}: {message}"[:LONGEST_MESSAGE].removesuffix(": ")
