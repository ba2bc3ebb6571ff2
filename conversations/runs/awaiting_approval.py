"""Runs that await approval of a tool call: no worker holds them, and they survive any restart.

    running ──await_approval──▶ awaiting_approval ──services/replies/approve_tool_call──▶ waiting ──▶ claimed again
                                  └─ not approved in time, or its owner no longer admitted ─▶ the reply ends as stopped

All that change such a run, decide about a call or end the reply lock the reply's row first, so each sees what the
others have done.
"""

from __future__ import annotations

import datetime as dt
import uuid
from functools import partial
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.db.models.functions import Now

from chatsite.accounts.gate.admission import Admission, find_admissions
from conversations.core.errors import ApprovalTimedOut
from conversations.live.fanout import RUNS, publish, publish_awaiting_approval
from conversations.models import Message, Run, ToolCall
from conversations.models.tool_call import ToolCallState
from conversations.services.replies.end_reply import SHUT_OUT, STOPPED, Ending, end_reply
from conversations.services.replies.reasoning import NO_REASONING, Reasoning
from conversations.services.windows.active_path import lock_if_streaming

from .claim import ClaimedRun

UNANSWERED = Ending("stopped", ApprovalTimedOut.code)
IS_OVER = ExpressionWrapper(Q(lease_until__lt=Now()), BooleanField())


def await_approval(run: ClaimedRun, *, content: str, reasoning: Reasoning = NO_REASONING) -> None:
    """Release the run until its calls are decided; if they have been meanwhile, put it back in the queue.

    A stop request that came too late for the worker is obeyed here. Done twice, because the first answer was lost, this
    changes nothing: the run may be another worker's by then.
    """
    with transaction.atomic():
        is_streaming = lock_if_streaming(run.reply_id)
        mine = Run.objects.filter(pk=run.id, state="running", attempt=run.attempt)
        held = mine.select_for_update().first()  # a stop request writes into this row
        if not is_streaming or held is None:
            return
        if held.stop_requested_at:
            end_reply(run.reply_id, STOPPED, content=content, reasoning=reasoning)
            return
        Message.objects.filter(pk=run.reply_id).update(
            content=content,
            reasoning=reasoning.text,
            reasoning_tokens=reasoning.tokens,
            reasoning_seconds=reasoning.seconds if reasoning.text else None,
        )
        _release(held)


def _release(run: Run) -> None:
    held = Run.objects.filter(pk=run.pk)
    if ToolCall.objects.filter(reply_id=run.reply_id, state=ToolCallState.AWAITING_APPROVAL).exists():
        lease = dt.timedelta(minutes=settings.TOOL_APPROVAL_MINUTES)
        held.update(state="awaiting_approval", worker="", lease_until=Now() + lease)
        transaction.on_commit(partial(publish_awaiting_approval, *_conversation_and_owner(run), awaiting_approval=True))
    else:
        held.update(state="waiting", waiting_since=Now(), worker="", lease_until=None)
        transaction.on_commit(partial(publish, RUNS, "waiting"))


def _conversation_and_owner(run: Run) -> tuple[uuid.UUID, int]:
    """Return the public id of the run's conversation, and its owner."""
    replies = Message.objects.filter(pk=run.reply_id)
    return replies.values_list("conversation__public_id", "conversation__owner_id").get()


class ExpiredApproval(NamedTuple):
    """A reply that awaits approval no longer, and how it ends. *until* is the lease that its owner had."""

    reply_id: int
    until: dt.datetime
    ending: Ending


def expired_approvals() -> list[ExpiredApproval]:
    """Return the replies whose owners have not decided in time, or are no longer admitted. Two statements for all."""
    fields = ("reply_id", "lease_until", "reply__conversation__owner_id")
    waiting = Run.objects.filter(state="awaiting_approval").annotate(is_over=IS_OVER).values_list(*fields, "is_over")
    admissions = find_admissions({owner_id for _, _, owner_id, _ in waiting})
    shut_out = {owner_id for owner_id, admission in admissions.items() if admission is not Admission.ADMITTED}
    return [
        ExpiredApproval(reply_id, until, SHUT_OUT if owner_id in shut_out else UNANSWERED)
        for reply_id, until, owner_id, is_over in waiting
        if is_over or owner_id in shut_out
    ]


def end_expired(expired: ExpiredApproval) -> bool:
    """End the reply, unless its calls have been decided at this moment."""
    with transaction.atomic():
        if not lock_if_streaming(expired.reply_id):
            return False
        same = Run.objects.filter(reply_id=expired.reply_id, state="awaiting_approval", lease_until=expired.until)
        return same.exists() and end_reply(expired.reply_id, expired.ending)
