"""End what nobody makes any more: replies whose worker is gone, rows of the ledger that were left open."""

from __future__ import annotations

from django.db.models.functions import Now

from conversations.core.errors import ReplyInterrupted
from conversations.models import Completion, Run
from conversations.services.conversations import sweep_deleted_conversations
from conversations.services.end_reply import Ending, end_reply
from conversations.services.ledger import settle_abandoned

from .claim import LEASE


def reap_once() -> int:
    """End every reply whose lease is over as interrupted, or as stopped if that was asked. Returns how many."""
    over = Run.objects.filter(state="running", lease_until__lt=Now()).select_related("reply")
    reaped = sum(_reap(run) for run in over)
    _settle_left_open()
    return reaped


def _reap(run: Run) -> bool:
    state = "stopped" if run.stop_requested_at else "interrupted"
    error_code = "" if run.stop_requested_at else ReplyInterrupted.code
    ended = end_reply(run.reply_id, Ending(state, error_code))  # type: ignore[arg-type]
    settle_abandoned(run.reply_id, text=run.reply.content, error_code=error_code or "stopped")
    if not ended:
        Run.objects.filter(pk=run.pk).update(state="ended", ended_at=Now())
    return ended


def _settle_left_open() -> None:
    """Settle the requests of replies that ended a while ago: whoever should have done it was killed in between."""
    left_open = Completion.objects.filter(ended_at=None, reply__run__ended_at__lt=Now() - LEASE)
    for completion in left_open.select_related("reply"):
        if reply := completion.reply:
            settle_abandoned(reply.pk, text=reply.content, error_code=reply.error_code or "stopped")


def tidy_once() -> None:
    """What is done now and then: sweep conversations that were deleted a while ago."""
    sweep_deleted_conversations()
