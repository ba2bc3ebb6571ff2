"""The run worker."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import uuid
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError

from conversations.core.errors import CompletionError, ConversationError
from conversations.live.database_threads import in_worker_thread
from conversations.live.fanout import RUNS, Subscriber, subscribe, unsubscribe
from conversations.providers.clients.client_pool import close_clients, completion_client
from conversations.services.replies.end_reply import COMPLETE, INTERRUPTED, SHUT_OUT, STOPPED, Ending, end_reply
from conversations.services.replies.make_reply import Made, make_reply

from .awaiting_approval import park_run
from .claim import ClaimedRun, claim_runs, prolong_leases, runs_of_shut_out, save_texts, stop_requests
from .live_reply import LiveReply, render_lines
from .reaper import reap_once, tidy_once

logger = logging.getLogger(__name__)

FLUSH_SECONDS = 0.05
RENDER_SECONDS = 0.1
SAVE_SECONDS = 0.4
ADMISSION_SECONDS = 0.75
LEASE_SECONDS = 2.0
TIDY_SECONDS = 300.0
# Without a word from `fanout` (another process stored the run) a waiting run is found this late.
POLL_SECONDS = 0.25
DRAIN_SECONDS = 25.0
LAST_WORDS_SECONDS = 2.0  # for what is interrupted to be written down


class Making:
    """A reply being made: its run, its text, and why it was cancelled, if it was.

    *work* makes it and may be cancelled at any time, also before its first step. *task* waits for that and ends the
    reply; it is never cancelled.
    """

    work: asyncio.Task[Made]
    task: asyncio.Task[None]

    def __init__(self, run: ClaimedRun) -> None:
        self.run = run
        self.live = LiveReply(run.reply_id, run.conversation, position=run.position)
        self.cancelled_as = INTERRUPTED

    def cancel(self, ending: Ending) -> None:
        if not self.work.cancelling():
            self.cancelled_as = ending
            self.work.cancel(ending.error_code)


class Worker:
    """Makes up to *at_once* replies. `start` and `drain` belong to one event loop."""

    def __init__(self, *, at_once: int | None = None) -> None:
        self.name = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._at_once = at_once or settings.REPLIES_AT_ONCE
        self._making: dict[int, Making] = {}  # by reply
        self._work = asyncio.Event()
        self._accepting = True
        self._claiming: asyncio.Task[None] | None = None
        self._duties: list[asyncio.Task[None]] = []
        self._subscriber: Subscriber | None = None

    async def start(self) -> None:
        self._subscriber = Subscriber(self._hear)
        subscribe(RUNS, self._subscriber)
        self._claiming = asyncio.create_task(self._claim_for_ever(), name="claim")
        self._duties = [
            asyncio.create_task(_every(FLUSH_SECONDS, self._flush), name="flush"),
            asyncio.create_task(_every(RENDER_SECONDS, self._render), name="render"),
            asyncio.create_task(_every(SAVE_SECONDS, self._save), name="save"),
            asyncio.create_task(_every(ADMISSION_SECONDS, self._stop_shut_out), name="admission"),
            asyncio.create_task(_every(LEASE_SECONDS, self._keep_leases), name="lease"),
            asyncio.create_task(_every(TIDY_SECONDS, in_worker_thread(tidy_once)), name="tidy"),
        ]

    async def drain(self, *, timeout_seconds: float = DRAIN_SECONDS) -> None:
        """Take no more runs, let the running ones end, and interrupt those that take longer.

        What can't be written down even then, because the database is away, is left to the reaper.
        """
        self._accepting = False
        self._work.set()
        if self._subscriber:
            unsubscribe(RUNS, self._subscriber)
        if self._claiming:  # not cancelled: what it is about to claim would be nobody's
            await asyncio.wait([self._claiming], timeout=LAST_WORDS_SECONDS)
        await self._wait_for_replies(timeout_seconds)
        for making in self._making.values():
            making.cancel(INTERRUPTED)
        await self._wait_for_replies(LAST_WORDS_SECONDS)
        for duty in self._duties:
            duty.cancel()
        await asyncio.gather(*self._duties, return_exceptions=True)
        await close_clients()

    async def _wait_for_replies(self, timeout_seconds: float) -> None:
        if self._making:
            await asyncio.wait([making.task for making in self._making.values()], timeout=timeout_seconds)

    def _hear(self, payload: str) -> None:
        verb, _, reply_id = payload.partition(" ")
        if verb == "stop" and (making := self._making.get(int(reply_id))):
            making.cancel(STOPPED)
        self._work.set()

    async def _claim_for_ever(self) -> None:
        while self._accepting:
            await _survive(self._claim)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._work.wait(), POLL_SECONDS)
            self._work.clear()

    async def _claim(self) -> None:
        if (free := self._at_once - len(self._making)) <= 0:
            return
        for run in await in_worker_thread(claim_runs)(self.name, limit=free):
            making = self._making[run.reply_id] = Making(run)
            making.work = asyncio.create_task(self._make(making), name=f"reply {run.reply_id}")
            making.task = asyncio.create_task(self._see_through(making), name=f"end of reply {run.reply_id}")

    async def _make(self, making: Making) -> Made:
        return await make_reply(making.run.reply_id, sink=making.live, client=completion_client())

    async def _see_through(self, making: Making) -> None:
        """Wait for one reply and end it, whatever happens."""
        try:
            ending = await self._ending_of(making)
            making.live.flush()
            run = making.run
            write = partial(end_reply, run.reply_id, ending) if ending else partial(park_run, run)
            await self._write_down(making, write)
        finally:
            if self._making.get(making.run.reply_id) is making:  # a reply that was parked may be made again by now
                del self._making[making.run.reply_id]
            self._work.set()

    async def _ending_of(self, making: Making) -> Ending | None:
        """Return how the reply ends; None where it has to wait for somebody to allow a call."""
        try:
            made = await making.work
        except asyncio.CancelledError:
            return making.cancelled_as
        except ConversationError as error:
            logger.warning("reply %d failed: %s %s", making.run.reply_id, error.code, _detail(error))
            return Ending.failed(error)
        except Exception:
            logger.exception("reply %d failed", making.run.reply_id)
            return Ending.failed(ConversationError())
        return COMPLETE if made is Made.COMPLETE else None

    async def _write_down(self, making: Making, write: Callable[..., object]) -> None:
        """Write the end, and go on trying while the database is away: until then the text is only here."""
        while True:
            try:
                await in_worker_thread(write)(content=making.live.text)
                return
            except (OperationalError, InterfaceError):
                logger.warning("reply %d could not be ended yet", making.run.reply_id, exc_info=True)
                await asyncio.sleep(SAVE_SECONDS)

    async def _flush(self) -> None:
        for making in tuple(self._making.values()):
            making.live.flush()

    async def _render(self) -> None:
        """Send finished blocks as HTML. Some take long, so they are rendered beside the loop, and no delta waits."""
        lines = [(making.live, making.live.take_lines()) for making in self._making.values() if making.live.has_lines]
        if lines:
            for live, rendered, blocks in await in_worker_thread(render_lines)(lines):
                live.send_blocks(rendered, blocks)

    async def _save(self) -> None:
        if not (held := self._held()):
            return
        replies = {making.run.reply_id: making for making in held}
        unsaved = {reply_id: making.live.unsaved() for reply_id, making in replies.items()}
        texts = {reply_id: text for reply_id, text in unsaved.items() if text is not None}
        await in_worker_thread(save_texts)(texts)
        for reply_id, text in texts.items():
            replies[reply_id].live.mark_saved(text)
        _cancel(held, await in_worker_thread(stop_requests)(_run_ids(held)), STOPPED)

    async def _stop_shut_out(self) -> None:
        """Stop the replies of people who may no longer be in: blocked, deactivated, gone, or the gate has shut."""
        if held := self._held():
            _cancel(held, await in_worker_thread(runs_of_shut_out)([making.run for making in held]), SHUT_OUT)

    async def _keep_leases(self) -> None:
        """Prolong our leases, then reap: while the database was away, ours may all have run out."""
        if held := self._held():
            _cancel(held, await in_worker_thread(prolong_leases)(self.name, _run_ids(held)), INTERRUPTED)
        await in_worker_thread(reap_once)()

    def _held(self) -> tuple[Making, ...]:
        """Return what is made now. While the database is asked about it, a run may be given back and claimed again."""
        return tuple(self._making.values())


def _run_ids(held: tuple[Making, ...]) -> list[int]:
    return [making.run.id for making in held]


def _cancel(held: tuple[Making, ...], run_ids: set[int], ending: Ending) -> None:
    for making in held:
        if making.run.id in run_ids:
            making.cancel(ending)


async def _every(seconds: float, duty: Callable[[], Awaitable[Any]]) -> None:
    while True:
        await asyncio.sleep(seconds)
        await _survive(duty)


async def _survive(duty: Callable[[], Awaitable[Any]]) -> None:
    """Do *duty*; a database that is away for a moment must not end the worker."""
    try:
        await duty()
    except Exception:
        logger.exception("the run worker could not do a duty; it will be tried again")


def _detail(error: ConversationError) -> str:
    return error.detail if isinstance(error, CompletionError) else ""
