"""The reaper: ends replies whose worker is gone, and settles rows of the ledger that were left open."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
from collections.abc import Callable
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from chatsite.accounts.attempts import delete_old_attempts
from chatsite.accounts.security.security_log import sweep_security_events
from chatsite.accounts.sessions.session_store import SessionStore
from chatsite.postgres.faults import is_outage, seconds_since_fault
from conversations.core.errors import AnswerInterrupted
from conversations.live.database_threads import in_worker_thread
from conversations.models import ApiHeartbeat, Completion, Run
from conversations.models.run import RunState
from conversations.models.worker_heartbeat import HEARTBEAT_VALID, WorkerHeartbeat
from conversations.services.api.idempotent_requests import sweep_idempotent_requests
from conversations.services.conversations.deletion import (
    sweep_deleted_conversations,
    sweep_temporary_conversations,
    sweep_unused_conversations,
)
from conversations.services.conversations.list_changes import sweep_list_changes
from conversations.services.documents.upload_limits import sweep_upload_counts
from conversations.services.imports.import_files import sweep_imports
from conversations.services.ledger.close_days import close_days
from conversations.services.ledger.ledger import Outcome, settle_completion
from conversations.services.pictures.pictures import sweep_unsent_pictures
from conversations.services.replies.reap_reply import reap_reply
from conversations.services.retention.mail_owners import mail_owners
from conversations.services.retention.sweep_retention import sweep_retention
from conversations.services.webhooks.deliveries import sweep_webhook_deliveries

from .awaiting_approval import end_expired, expired_approvals
from .claim import LEASE
from .heartbeat import sweep_heartbeats
from .process_name import is_gone
from .waiting_work import look_for_work

logger = logging.getLogger(__name__)
REAP_SECONDS = 2.0
REAP_AFTER_FAULT_SECONDS = 8.0
LONGEST_REQUEST = dt.timedelta(hours=1)
TIDYING: tuple[Callable[[], object], ...] = (
    sweep_retention,
    mail_owners,
    sweep_deleted_conversations,
    sweep_temporary_conversations,
    SessionStore.clear_expired,
    delete_old_attempts,
    sweep_security_events,
    sweep_upload_counts,
    sweep_list_changes,
    sweep_unsent_pictures,
    sweep_imports,
    sweep_unused_conversations,
    sweep_heartbeats,
    sweep_idempotent_requests,
    sweep_webhook_deliveries,
    close_days,
)


def may_reap() -> bool:
    """Tell whether the database has been there for as long as workers need to find it again and renew their leases."""
    return seconds_since_fault() > REAP_AFTER_FAULT_SECONDS


def reap_once() -> int:
    """Take every reply whose lease is over away from its worker, and end those whose approval has expired.

    Returns how many. Several processes may do this at once.
    """
    end_leases_of_gone_workers()
    over = Run.objects.filter(state="running", lease_until__lt=Now()).values_list("reply_id", flat=True)
    reaped = sum(_survives(reap_reply, reply_id) for reply_id in over)
    reaped += sum(_survives(end_expired, reply) for reply in expired_approvals())
    for completion in _left_open():
        _survives(_settle, completion)
    return reaped


def end_leases_of_gone_workers() -> None:
    """End the leases of workers of this machine whose process is gone, up to ten seconds before they would be over.

    Their heartbeats are deleted too, so that the others take their share. The heartbeat of the last worker stays until
    it is too old: another may be starting in its place, and pages need not say for a second that none is running.
    """
    held = Run.objects.filter(state="running", lease_until__gt=Now())
    beating = WorkerHeartbeat.objects.filter(seen_at__gt=Now() - HEARTBEAT_VALID)
    alive = set(beating.values_list("name", flat=True))
    gone = {name for name in alive.union(held.values_list("worker", flat=True).distinct()) if is_gone(name)}
    if gone:
        held.filter(worker__in=gone).update(lease_until=Now())
    if alive - gone:
        beating.filter(name__in=gone).delete()


class Reaper:
    """Reaps in a web process that runs no worker: also while no worker is alive, no reply streams for ever."""

    def __init__(self) -> None:
        self._reaping: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._reaping = asyncio.create_task(self._reap_for_ever(), name="reap")

    async def drain(self) -> None:
        if self._reaping:
            self._reaping.cancel()
            await asyncio.gather(self._reaping, return_exceptions=True)

    async def _reap_for_ever(self) -> None:
        while True:
            await asyncio.sleep(REAP_SECONDS)
            if not may_reap():
                continue
            try:
                if (await look_for_work()).abandoned:
                    await in_worker_thread(reap_once)()
            except Exception:
                logger.exception("the web process could not reap; it will try again")


def tidy_once() -> None:
    """Sweep what was not touched, was deleted a while ago, was temporary, has expired or was never sent.

    Those are conversations, sessions, counts, security events, pictures, heartbeats, and answers and events that are
    kept for a while. And close days of the ledger. Each duty is done by itself: a row that one of them can't bear must
    not keep what is temporary, say, for ever. Where the database is away none can be done.
    """
    for duty in TIDYING:
        try:
            duty()
        except Exception as error:
            if is_outage(error.__cause__ or error):
                raise
            logger.exception("%s failed; it will be tried again", getattr(duty, "__name__", duty))


def _survives(duty: Callable[[Any], bool], row: Any) -> bool:
    """Do *duty* for one row, and log a failure: a row that can't be ended must not keep the others from it."""
    try:
        return duty(row)
    except Exception:
        logger.exception("%s could not be ended", row)
        return False


def _left_open() -> QuerySet[Completion]:
    """Return the requests that no process will settle: of replies that ended a while ago, are gone or are not running.

    And those of programs whose process has no heartbeat any more. As long as one of them is open, no day after it is
    closed.
    """
    old = Q(created_at__lt=Now() - LONGEST_REQUEST)
    unheld = Q(reply__run__ended_at__lt=Now() - LEASE) | old & ~Q(reply__run__state=RunState.RUNNING)
    alive = ApiHeartbeat.objects.filter(seen_at__gt=Now() - HEARTBEAT_VALID).values("name")
    unheld |= ~Q(holder="") & ~Q(holder__in=alive)
    return Completion.objects.filter(unheld, ended_at=None).select_related("reply")


def _settle(completion: Completion) -> bool:
    reply = completion.reply
    run = Run.objects.filter(reply=reply).first() if reply else None
    error_code = AnswerInterrupted.code if completion.holder else reply.error_code if reply else ""
    outcome = Outcome(text=run.written_in(reply) if run and reply else "", error_code=error_code)
    return settle_completion(completion, outcome)
