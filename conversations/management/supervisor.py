"""The main process of several: it starts the others, starts again those that end, and ends all when it is told to.

    main process ── its listening socket, inherited ──▶ web processes, which all accept from it
                 ── a line (socket pair) to each ─────▶ web processes and the worker

Over its line a child says once that it is ready. The lines end with the main process, also when that is killed, and its
children then end as if they had been told to. Children are new programs and no forks: nothing that the main process has
open or has drawn by chance is in them, and one that is started after hours is like one of the beginning.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

logger = logging.getLogger(__name__)
QUICK_SECONDS = 10.0  # a child that has been ready for no longer has ended at once
LAST_WORD_SECONDS = 1.0  # to hear what a child has said just before its end
MOST_QUICK_ENDS = 5  # of one child, in a row
PAUSES_SECONDS = (0.0, 1.0, 2.0, 4.0)  # before it is started again, by the number of its quick ends


class GaveUp(Exception):
    """The message is one sentence, fit for the operator."""


@dataclass(frozen=True, slots=True)
class Program:
    """What a child is: its *name* for the operator, its *command*, and the descriptors that it inherits."""

    name: str
    command: tuple[str, ...]
    descriptors: tuple[int, ...] = ()


class Child:
    """A process that runs *program*. There is one at a time, until it is told to end."""

    def __init__(self, program: Program, *, environment: Mapping[str, str], forget: Callable[[int], None]) -> None:
        self.was_ready = asyncio.Event()  # once, whichever process of it
        self._program, self._environment, self._forget = program, environment, forget
        self._process: asyncio.subprocess.Process | None = None
        self._ready_since: float | None = None  # of the present process
        self._told_to_end = asyncio.Event()
        self._quick_ends = 0

    async def keep(self) -> None:
        """Start the child, and again whenever it ends, until it is told to. Raises `GaveUp`."""
        while not self._told_to_end.is_set():
            end = await self._run()
            if self._told_to_end.is_set():
                return
            was_quick = self._ready_since is None or time.monotonic() - self._ready_since < QUICK_SECONDS
            self._quick_ends = self._quick_ends + 1 if was_quick else 0
            self._give_up_or_warn(end)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._told_to_end.wait(), PAUSES_SECONDS[max(0, self._quick_ends - 1)])

    def end(self) -> None:
        """Tell the child to end, and start it no more. One that does nothing yet has nothing to end."""
        self._told_to_end.set()
        self._send(signal.SIGKILL if self._ready_since is None else signal.SIGTERM)

    def kill(self) -> None:
        self._told_to_end.set()
        self._send(signal.SIGKILL)

    async def _run(self) -> str:
        """Start the child and wait for its end; returns that in words."""
        self._ready_since = None
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with ours:
            with theirs:
                try:
                    process = self._process = await self._start(theirs.fileno())
                except OSError as error:  # no memory or no process left
                    return error.strerror or type(error).__name__
            if self._told_to_end.is_set():
                self.end()
            hearing = asyncio.create_task(self._hear(ours))
            status = await process.wait()
            await asyncio.wait([hearing], timeout=LAST_WORD_SECONDS)
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)
        self._forget(process.pid)
        return signal.Signals(-status).name if status < 0 else f"exit status {status}"

    async def _start(self, line: int) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *self._program.command,
            f"--line={line}",
            stdin=asyncio.subprocess.DEVNULL,
            pass_fds=(line, *self._program.descriptors),
            env=dict(self._environment),
            start_new_session=True,  # Ctrl-C in a terminal is for the main process
        )

    async def _hear(self, line: socket.socket) -> None:
        if await asyncio.get_running_loop().sock_recv(line, 1):
            self._ready_since = time.monotonic()
            self.was_ready.set()

    def _give_up_or_warn(self, end: str) -> None:
        if not self.was_ready.is_set():
            raise GaveUp(f"{self._program.name} could not be started: {end}.")
        if self._quick_ends >= MOST_QUICK_ENDS:
            raise GaveUp(f"{self._program.name} ended {MOST_QUICK_ENDS} times just after its start, at last so: {end}.")
        logger.warning("%s has ended and is started again: %s", self._program.name, end)

    def _send(self, number: signal.Signals) -> None:
        if self._process and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)


class Supervisor:
    """Children of *programs*; *forget* is told the number of each process that has ended."""

    def __init__(
        self,
        programs: Sequence[Program],
        *,
        environment: Mapping[str, str],
        forget: Callable[[int], None] = lambda process_id: None,
    ) -> None:
        self._children = [Child(program, environment=environment, forget=forget) for program in programs]
        self._told_to_stop = asyncio.Event()

    async def run(
        self, *, say_ready: Callable[[], None], say_stopping: Callable[[], None], ending_seconds: float
    ) -> None:
        """Keep the children until SIGTERM or SIGINT, then let them end. A second SIGINT kills them.

        Raises `GaveUp`, after their end, if one could not be kept, or if they did not end within *ending_seconds*.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._hear, number)
        keepers = [asyncio.create_task(child.keep()) for child in self._children]
        others = [asyncio.create_task(self._told_to_stop.wait()), asyncio.create_task(self._announce(say_ready))]
        await asyncio.wait([*keepers, others[0]], return_when=asyncio.FIRST_COMPLETED)
        self._told_to_stop.set()
        for task in others:
            task.cancel()
        say_stopping()
        for child in self._children:
            child.end()
        _, hanging = await asyncio.wait(keepers, timeout=ending_seconds)
        for child in self._children:
            child.kill()
        await asyncio.gather(*keepers)
        if hanging:
            raise GaveUp(f"Some processes had not ended after {ending_seconds:g} seconds and were killed.")

    def _hear(self, number: signal.Signals) -> None:
        if self._told_to_stop.is_set() and number == signal.SIGINT:
            for child in self._children:
                child.kill()
        self._told_to_stop.set()

    async def _announce(self, say_ready: Callable[[], None]) -> None:
        await asyncio.gather(*(child.was_ready.wait() for child in self._children))
        say_ready()
