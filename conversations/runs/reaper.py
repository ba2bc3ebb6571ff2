"""The reaper: ends replies whose worker is gone, and settles rows of the ledger that were left open."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from chatsite.accounts.attempts import delete_old_attempts
from chatsite.accounts.security.security_log import sweep_security_events
from chatsite.accounts.sessions.session_store import SessionStore
from conversations import metrics
from conversations.models import Completion, Run
from conversations.models.run import RunState
from conversations.services.conversations.conversations import sweep_deleted_conversations
from conversations.services.documents.upload_limits import sweep_upload_counts
from conversations.services.ledger.close_days import close_days
from conversations.services.ledger.ledger import Outcome, settle_abandoned, settle_completion
from conversations.services.pictures.pictures import sweep_unsent_pictures
from conversations.services.replies.end_reply import INTERRUPTED, STOPPED, end_reply
from conversations.services.windows.active_path import lock_if_streaming

from .awaiting_approval import end_expired, expired_approvals
from .claim import LEASE

logger = logging.getLogger(__name__)
LONGEST_REQUEST = dt.timedelta(hours=1)


def reap_once() -> int:
    """End every reply whose lease is over: interrupted, or stopped if that was requested or approval has expired.

    Returns how many.
    """
    over = Run.objects.filter(state="running", lease_until__lt=Now()).select_related("reply__conversation")
    reaped = sum(_survives(_reap, run) for run in over)
    reaped += sum(_survives(end_expired, reply) for reply in expired_approvals())
    for completion in _left_open():
        _survives(_settle, completion)
    return reaped


def tidy_once() -> None:
    """Sweep what was deleted a while ago, has expired or was never sent; close days of the ledger.

    Those are conversations, sessions, counts, security events and pictures.
    """
    sweep_deleted_conversations()
    SessionStore.clear_expired()
    delete_old_attempts()
    sweep_security_events()
    sweep_upload_counts()
    sweep_unsent_pictures()
    close_days()


def _survives(duty: Callable[[Any], bool], row: Any) -> bool:
    """Do *duty* for one row, and log a failure: a row that can't be ended must not keep the others from it."""
    try:
        return duty(row)
    except Exception:
        logger.exception("%s could not be ended", row)
        return False


def _reap(run: Run) -> bool:
    """End what the worker has left, unless it was only slow and has released the run since."""
    ending = STOPPED if run.stop_requested_at else INTERRUPTED
    # First the ledger, as always: a page that hears that the reply has ended asks what it cost.
    settle_abandoned(run.reply_id, text=run.reply.reasoning + run.reply.content, error_code=ending.error_code)
    with transaction.atomic():
        if lock_if_streaming(run.reply_id) and not _is_still_over(run):
            return False
        ended = end_reply(run.reply_id, ending)
        if not ended:
            Run.objects.filter(pk=run.pk).update(state="ended", ended_at=Now())
    metrics.leases_over.inc()
    ids = {"run_id": run.pk, "reply_id": run.reply_id, "user_id": run.reply.conversation.owner_id}
    logger.warning(
        "a reply was ended because the lease of its worker was over",
        extra={**ids, "worker": run.worker, "attempt": run.attempt, "error_code": ending.error_code},
    )
    return ended


def _is_still_over(run: Run) -> bool:
    same = Run.objects.filter(pk=run.pk, state="running", attempt=run.attempt, lease_until__lt=Now())
    return same.exists()


def _left_open() -> QuerySet[Completion]:
    """Return the requests that no worker will settle: of replies that ended a while ago, are gone or are not running.

    As long as one of them is open, no day after it is closed.
    """
    old = Q(created_at__lt=Now() - LONGEST_REQUEST)
    nobodys = Q(reply__run__ended_at__lt=Now() - LEASE) | old & ~Q(reply__run__state=RunState.RUNNING)
    return Completion.objects.filter(nobodys, ended_at=None).select_related("reply")


def _settle(completion: Completion) -> bool:
    reply = completion.reply
    outcome = Outcome(
        text=reply.reasoning + reply.content if reply else "", error_code=reply.error_code if reply else ""
    )
    return settle_completion(completion, outcome)
