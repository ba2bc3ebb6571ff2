"""Approve or refuse a tool call. The decision is for this call alone, with exactly the arguments that were seen."""

from __future__ import annotations

from functools import partial

from django.db import transaction
from django.db.models.functions import Now

from chatsite.accounts.limits import effective_limits
from conversations.access import find_call, lock_admitted
from conversations.core.errors import CallNotAwaitingApproval, CallRefused
from conversations.core.frames.definitions import ReplyStep
from conversations.live.fanout import RUNS, publish, publish_awaiting_approval, publish_frame
from conversations.models import Conversation, Run, ToolCall
from conversations.models.tool_call import ToolCallState
from conversations.services.limits.message_checks import check_replies_at_once
from conversations.services.windows.active_path import lock_conversation, lock_if_streaming


def decide_call(*, conversation: Conversation, call_id: int, digest: str, allowed: bool) -> ToolCall:
    """Store the decision; the reply goes on once all its calls are decided.

    Raises `CallNotFound`; `CallNotAwaitingApproval` where *digest* is another one or the call has been decided; and
    `TooManyRepliesAtOnce` where the reply would go on beside as many others as may be made: it keeps waiting then.
    """
    with transaction.atomic():
        lock_admitted(conversation.owner)
        locked = lock_conversation(conversation)
        call = find_call(locked, call_id)
        undecided = ToolCall.objects.filter(pk=call.pk, state=ToolCallState.AWAITING_APPROVAL)
        # A worker that is about to await approval locks the reply, too: it sees this decision, or this sees it waiting.
        if call.digest != digest or not lock_if_streaming(call.reply_id):
            raise CallNotAwaitingApproval
        if not undecided.update(**_decision(allowed), decided_at=Now()):  # another request was faster
            raise CallNotAwaitingApproval
        if not call.reply.calls.filter(state=ToolCallState.AWAITING_APPROVAL).exists():
            _resume(conversation, call)
        transaction.on_commit(partial(_announce, locked, call))
    call.refresh_from_db()
    return call


def _resume(conversation: Conversation, call: ToolCall) -> None:
    """Put the run back in the queue. One that a worker still holds finds the decisions when it is about to wait."""
    run = Run.objects.filter(reply=call.reply, state="awaiting_approval")
    if run.exists():
        owner = conversation.owner
        check_replies_at_once(owner, limit=effective_limits(owner).replies_at_once)
        run.update(state="waiting", waiting_since=Now(), lease_until=None)
        announce = partial(publish_awaiting_approval, conversation.public_id, owner.pk, awaiting_approval=False)
        transaction.on_commit(announce)


def _decision(allowed: bool) -> dict[str, object]:
    if allowed:
        return {"state": ToolCallState.READY}
    refused = CallRefused()
    return {
        "state": ToolCallState.REFUSED,
        "error_code": refused.code,
        "result": refused.for_the_model,
        "ended_at": Now(),
    }


def _announce(conversation: Conversation, call: ToolCall) -> None:
    publish(RUNS, "waiting")
    publish_frame(ReplyStep(conversation.public_id, call.reply_id, call.step), conversation.public_id)
