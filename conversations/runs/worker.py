"""The run worker: claims runs, makes their replies, and ends them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextvars import Context, copy_context
from functools import partial
from typing import Any

from django.conf import settings
from structlog.contextvars import bind_contextvars

from chatsite.health.exhaustion import exhaustion_of, find_exhaustion, is_out_of_memory
from chatsite.postgres.connection import long_work
from conversations.core.errors import CompletionError, ConversationError, WorkerExhausted
from conversations.live.database_retries import retry_while_database_down
from conversations.live.database_threads import in_worker_thread
from conversations.live.fanout import RUNS, JoinedTopic, Subscriber, subscribe, unsubscribe
from conversations.models.run import RunHolder
from conversations.providers.clients.client_pool import close_clients, completion_client
from conversations.services.replies.end_reply import COMPLETE, INTERRUPTED, SHUT_OUT, STOPPED, Ending
from conversations.services.replies.make_reply import ReplyOutcome, make_reply
from conversations.tracing import traced_run

from .awaiting_approval import await_approval
from .claim import ClaimedRun, claim_runs, renew_leases, runs_of_shut_out, stop_requests
from .heartbeat import beat, end_heartbeat
from .held_run import end_held_reply, hand_back_reply
from .live_reply import LiveReply, StepText, render_lines
from .process_name import name_process
from .reaper import may_reap, reap_once, tidy_once
from .save_text import save_texts
from .waiting_work import look_for_work

logger = logging.getLogger(__name__)

FLUSH_SECONDS = 0.05
RENDER_SECONDS = 0.1
SAVE_SECONDS = 0.4
ADMISSION_SECONDS = 0.75
RENEW_SECONDS = 2.0
HEARTBEAT_SECONDS = 2.0
TIDY_SECONDS = 300.0
# A waiting run of which no message tells is found this late: where Redis is away, other processes can't tell.
POLL_SECONDS = 0.25
# The same where each is told of, in case that a message is lost.
RARE_POLL_SECONDS = 2.0
DRAIN_SECONDS = 25.0
FIRST_BEAT_SECONDS = 3.0  # that a start waits for its heartbeat, where the database does not answer
REST_SECONDS = 5.0  # without a claim, after no connection could be opened for lack of a file descriptor or of memory
INTERRUPT_SECONDS = 4.0  # for interrupted replies to be stored


class ActiveRun:
    """A run that this worker holds: what there is of its reply, and the ending that it was cancelled with, if it was.

    It *lacks_connections* where this process had nothing left to open one with: another worker may. If it
    *has_lost_lease*, another one has it, or the reply has ended.

    *work* makes the reply and may be cancelled at any time, also before its first step. *end* waits for that and ends
    the reply; it is never cancelled.
    """

    work: asyncio.Task[ReplyOutcome]
    end: asyncio.Task[None]

    def __init__(self, run: ClaimedRun) -> None:
        self.run = run
        self.live = LiveReply(
            run.reply_id, run.conversation, position=run.position, text=run.text, reasoning=run.reasoning
        )
        self.cancelled_as = INTERRUPTED
        self.lacks_connections = False
        self.has_lost_lease = False

    def cancel(self, ending: Ending) -> None:
        if not self.work.cancelling():
            self.cancelled_as = ending
            self.work.cancel(ending.error_code)

    def failed(self, error: ConversationError) -> Ending:
        """Return how the reply ends that *error* has ended."""
        return Ending.interrupted_by(error) if self.run.text else Ending.failed(error)


class Worker:
    """Makes up to *at_once* replies. `start` and `drain` belong to one event loop."""

    def __init__(self, *, at_once: int | None = None) -> None:
        self.name = name_process()
        self._at_once = at_once or settings.REPLIES_AT_ONCE
        self._active: dict[int, ActiveRun] = {}  # by reply
        self._is_making = asyncio.Event()  # set while there are any
        self._work = asyncio.Event()
        self._is_any_left = False  # waiting, when runs were last claimed
        self._elsewhere = JoinedTopic(RUNS)
        self._accepting = True
        self._rests_until: float | None = None
        self._claiming: asyncio.Task[None] | None = None
        self._duties: list[asyncio.Task[None]] = []
        self._subscriber: Subscriber | None = None

    async def start(self) -> None:
        """Begin to claim runs. Its heartbeat is stored by then, so that the site is ready when its port is open."""
        self._subscriber = Subscriber(self._hear)
        subscribe(RUNS, self._subscriber)
        self._elsewhere.start()
        first_beat = asyncio.create_task(_survive(self._beat), name="first heartbeat")
        await asyncio.wait([first_beat], timeout=FIRST_BEAT_SECONDS)
        self._claiming = asyncio.create_task(self._claim_for_ever(first_beat), name="claim")
        self._duties = [
            asyncio.create_task(_every(HEARTBEAT_SECONDS, self._beat), name="heartbeat"),
            asyncio.create_task(_every(FLUSH_SECONDS, self._flush, while_set=self._is_making), name="flush"),
            asyncio.create_task(_every(RENDER_SECONDS, self._render, while_set=self._is_making), name="render"),
            asyncio.create_task(_every(SAVE_SECONDS, self._save, while_set=self._is_making), name="save"),
            asyncio.create_task(
                _every(ADMISSION_SECONDS, self._stop_shut_out, while_set=self._is_making), name="admission"
            ),
            asyncio.create_task(_every(RENEW_SECONDS, self._keep_leases), name="lease"),
            asyncio.create_task(_every(TIDY_SECONDS, in_worker_thread(long_work()(tidy_once))), name="tidy"),
        ]

    async def drain(self, *, timeout_seconds: float = DRAIN_SECONDS) -> None:
        """Take no more runs, let the running ones end, and interrupt those that take longer.

        Those of which nothing has come are left to another worker.
        What can't be stored even then, because the database is away, is left to the reaper.
        """
        began, replies = time.monotonic(), len(self._active)
        self._accepting = False
        self._work.set()
        await _survive(self._beat)
        if self._subscriber:
            unsubscribe(RUNS, self._subscriber)
        self._elsewhere.stop()
        if self._claiming:  # not cancelled: what it is about to claim would have no worker
            await asyncio.wait([self._claiming], timeout=INTERRUPT_SECONDS)
        await self._wait_for_replies(timeout_seconds)
        for active in self._active.values():
            active.cancel(INTERRUPTED)
        await self._wait_for_replies(INTERRUPT_SECONDS)
        for duty in self._duties:
            duty.cancel()
        await asyncio.gather(*self._duties, return_exceptions=True)
        await close_clients()
        seconds = round(time.monotonic() - began, 1)
        logger.info("the run worker has drained", extra={"worker": self.name, "replies": replies, "seconds": seconds})

    async def _wait_for_replies(self, timeout_seconds: float) -> None:
        if self._active:
            await asyncio.wait([active.end for active in self._active.values()], timeout=timeout_seconds)

    def _hear(self, payload: str) -> None:
        verb, _, reply_id = payload.partition(" ")
        if verb == "stop" and (active := self._active.get(int(reply_id))):
            active.cancel(STOPPED)
        self._work.set()

    async def _claim_for_ever(self, first_beat: asyncio.Task[None]) -> None:
        await first_beat
        while self._accepting:
            await _survive(self._claim)
            while self._accepting and not await self._is_told_of_runs():
                pass
            self._work.clear()

    async def _is_told_of_runs(self) -> bool:
        """Wait until runs are announced, or found to be waiting; False if neither happened for a while."""
        poll_seconds = self._poll_seconds
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._work.wait(), poll_seconds)
        if self._work.is_set() or poll_seconds == POLL_SECONDS:
            return True
        try:
            return (await look_for_work()).runs
        except Exception:
            return True  # claiming says what is wrong

    @property
    def _poll_seconds(self) -> float:
        hears_of_all = self._elsewhere.hears if self._elsewhere.is_needed else settings.RUN_WORKER
        return RARE_POLL_SECONDS if hears_of_all and not self._is_any_left else POLL_SECONDS

    async def _claim(self) -> None:
        if self._rests():
            self._is_any_left = True  # for all that is known
            return
        if (free := self._at_once - len(self._active)) <= 0:
            self._is_any_left = True  # for all that is known
            return
        runs, left = await in_worker_thread(claim_runs)(self.name, limit=free)
        self._is_any_left = left > 0
        for run in runs:
            active = self._active[run.reply_id] = ActiveRun(run)
            context = _context_of(run)
            active.work = asyncio.create_task(self._make(active), name=f"reply {run.reply_id}", context=context)
            end_context = context.copy()  # both share what it holds
            active.end = asyncio.create_task(
                self._finish(active), name=f"end of reply {run.reply_id}", context=end_context
            )
            self._is_making.set()

    def _rests(self) -> bool:
        """Tell whether nothing is to be claimed now, because no connection could be made for it."""
        if lacking := find_exhaustion():
            self._rest(lacking)
        elif self._rests_until is not None and time.monotonic() > self._rests_until:
            self._rests_until = None
            logger.info("the run worker takes replies again", extra={"worker": self.name})
        return self._rests_until is not None

    def _rest(self, lacking: str) -> None:
        """Claim nothing for a while. One line says so, however many replies have met it, and the missing heartbeat."""
        if self._rests_until is None:
            told = {"worker": self.name, "reason": lacking, "replies": len(self._active)}
            logger.warning("the run worker can open no connection, and takes no replies for a while", extra=told)
        self._rests_until = time.monotonic() + REST_SECONDS

    async def _beat(self) -> None:
        claims = self._accepting and self._rests_until is None
        await in_worker_thread(beat if claims else end_heartbeat)(self.name)

    async def _make(self, active: ActiveRun) -> ReplyOutcome:
        run = active.run
        with traced_run(run_id=run.id, attempt=run.attempt, reply_id=run.reply_id, conversation=run.conversation):
            holder = RunHolder(self.name, run.attempt)
            return await make_reply(run.reply_id, sink=active.live, client=completion_client(), holder=holder)

    async def _finish(self, active: ActiveRun) -> None:
        """Wait for one reply, then end it or let its run await approval, whatever happens."""
        try:
            await self._end(active, await self._outcome_of(active))
        finally:
            if self._active.get(active.run.reply_id) is active:  # it may have awaited approval and be claimed again
                del self._active[active.run.reply_id]
            if not self._active:
                self._is_making.clear()
            if self._is_any_left:
                self._work.set()

    async def _end(self, active: ActiveRun, outcome: ReplyOutcome | Ending) -> None:
        """Store the end of a reply that has not ended yet, hand it back, or let its run await approval."""
        if outcome is ReplyOutcome.ENDED:
            return
        if outcome is INTERRUPTED:
            if active.has_lost_lease:
                logger.warning("the lease of a reply was lost", extra=_ids_of(active.run))
            logger.warning("the reply was interrupted", extra={"error_code": INTERRUPTED.error_code})
        active.live.flush()
        run, ending = active.run, outcome if isinstance(outcome, Ending) else COMPLETE
        if outcome is ReplyOutcome.AWAITING_APPROVAL:
            write: Callable[..., object] = partial(await_approval, run)
        elif ending is INTERRUPTED or active.lacks_connections:
            write = partial(hand_back_reply, run, ending, is_exhausted=active.lacks_connections)
        else:
            write = partial(end_held_reply, run, ending)
        await self._store_end(active, write)

    async def _outcome_of(self, active: ActiveRun) -> ReplyOutcome | Ending:
        """Return what has become of the reply, or how it is to end if it was cancelled or has failed."""
        try:
            return await active.work
        except asyncio.CancelledError:
            return active.cancelled_as
        except Exception as error:
            return self._ending_by(active, error)

    def _ending_by(self, active: ActiveRun, error: Exception) -> Ending:
        """Return how a reply ends by *error*, and log it; what this process lacks is not logged for each reply."""
        ended_by = error if isinstance(error, ConversationError) else ConversationError()
        if lacking := _detail(ended_by) if isinstance(ended_by, WorkerExhausted) else exhaustion_of(error):
            active.lacks_connections = True
            self._rest(lacking)
        elif is_out_of_memory(error):
            logger.error("the run worker had no memory for a reply", exc_info=error)
            return INTERRUPTED
        elif ended_by is error:
            logger.warning("reply %d failed: %s %s", active.run.reply_id, ended_by.code, _detail(ended_by))
        else:
            logger.error("reply %d failed", active.run.reply_id, exc_info=error)
        return active.failed(ended_by)

    async def _store_end(self, active: ActiveRun, write: Callable[..., object]) -> None:
        """Store the end, and go on trying while the database is away: until then the text is only here."""
        await retry_while_database_down(partial(write, content=active.live.text, reasoning=active.live.reasoning))

    async def _flush(self) -> None:
        for active in self._active.values():
            active.live.flush()

    async def _render(self) -> None:
        """Send finished blocks as HTML. Some take long, so they are rendered in a thread, and no delta waits."""
        lines = [(active.live, active.live.take_lines()) for active in self._active.values() if active.live.has_lines]
        if lines:
            for live, rendered, blocks in await in_worker_thread(render_lines)(lines):
                live.send_blocks(rendered, blocks)

    async def _save(self) -> None:
        if not (held := self._held()):
            return
        replies = {active.run.reply_id: active for active in held}
        unsaved = {reply_id: active.live.unsaved() for reply_id, active in replies.items()}
        texts = {reply_id: text for reply_id, text in unsaved.items() if text is not None}
        stopped = await in_worker_thread(_save_texts_and_find_stops)(texts, _run_ids(held), worker=self.name)
        for reply_id, text in texts.items():
            replies[reply_id].live.mark_saved(text)
        _cancel(held, stopped, STOPPED)

    async def _stop_shut_out(self) -> None:
        """Stop the replies of users who are no longer admitted: blocked, deactivated, deleted, or behind the gate."""
        if held := self._held():
            _cancel(held, await in_worker_thread(runs_of_shut_out)([active.run for active in held]), SHUT_OUT)

    async def _keep_leases(self) -> None:
        """Renew our leases, then reap: while the database was away, all may have run out.

        Other workers get as long to renew theirs: what was only a fault of the database interrupts no reply.
        """
        if held := self._held():
            lost = await in_worker_thread(renew_leases)(self.name, _run_ids(held))
            for active in held:
                active.has_lost_lease |= active.run.id in lost  # also of a reply that has just ended
            _cancel(held, lost, INTERRUPTED)
        if may_reap() and (await look_for_work()).abandoned:
            await in_worker_thread(reap_once)()

    def _held(self) -> tuple[ActiveRun, ...]:
        """Return the runs held now. While the database is asked, one may await approval and be claimed again."""
        return tuple(self._active.values())


def _save_texts_and_find_stops(texts: Mapping[int, StepText], run_ids: Collection[int], *, worker: str) -> set[int]:
    """Save *texts*, and return those of *run_ids* for which a stop has been requested."""
    save_texts(texts, worker=worker)
    return stop_requests(run_ids)


def _ids_of(run: ClaimedRun) -> dict[str, object]:
    """Return what the log says of a run."""
    conversation_id = str(run.conversation)
    return {
        "run_id": run.id,
        "reply_id": run.reply_id,
        "conversation_id": conversation_id,
        "user_id": run.owner_id,
        "attempt": run.attempt,
    }


def _context_of(run: ClaimedRun) -> Context:
    """Return the context of a task each of whose lines in the log says which run it is about."""
    context = copy_context()
    context.run(partial(bind_contextvars, **_ids_of(run)))
    return context


def _run_ids(held: tuple[ActiveRun, ...]) -> list[int]:
    return [active.run.id for active in held]


def _cancel(held: tuple[ActiveRun, ...], run_ids: set[int], ending: Ending) -> None:
    for active in held:
        if active.run.id in run_ids:
            active.cancel(ending)


async def _every(seconds: float, duty: Callable[[], Awaitable[Any]], *, while_set: asyncio.Event | None = None) -> None:
    while True:
        if while_set is not None:
            await while_set.wait()
        await asyncio.sleep(seconds)
        await _survive(duty)


async def _survive(duty: Callable[[], Awaitable[Any]]) -> None:
    """Do *duty*, and log a failure: a database that is away for a moment must not end the worker."""
    try:
        await duty()
    except Exception:
        logger.exception("the run worker could not do a duty; it will be tried again")


def _detail(error: ConversationError) -> str:
    return error.detail if isinstance(error, CompletionError) else ""
