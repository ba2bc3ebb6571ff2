"""Reap a reply whose worker is gone: put it back in the queue if nothing of it has come, else end it.

One whose answer was stored whole, as its request was settled, is complete: it was paid for and is not asked for again.
One that is about to call tools goes back to the queue, and on from there.

All of it is one decision under the locks of the reply and of its run: whether the lease is still over, the rows of the
ledger, and the end. A worker that was only slow renews its lease before, and keeps the run; or after, and learns that
it is no longer its own. A page that hears of the end finds what it cost.
"""

from __future__ import annotations

import datetime as dt
import logging
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from conversations import metrics
from conversations.core.frames.definitions import ReplyDelta, ReplyRestarted
from conversations.core.frames.frame import Frame
from conversations.live.fanout import RUNS, publish, publish_frame
from conversations.models import Message, Run, ToolCall
from conversations.models.run import RunState
from conversations.services.ledger.ledger import settle_abandoned
from conversations.services.windows.active_path import lock_if_streaming

from .end_reply import COMPLETE, INTERRUPTED, STOPPED, Ending, end_reply

MOST_ATTEMPTS = 3  # of workers, to make one reply
logger = logging.getLogger(__name__)


def reap_reply(reply_id: int) -> bool:
    """Take the reply away from a worker whose lease is over. Returns False, and changes nothing, if it is not.

    It ends as complete if its answer is stored, as stopped if that was requested, else as interrupted. One of which
    nothing had come is made again by another worker, unless so many have tried.
    """
    with transaction.atomic():
        if not lock_if_streaming(reply_id):
            return bool(_over(reply_id).update(state="ended", ended_at=Now()))
        run = _over(reply_id).select_for_update(no_key=True).first()  # its owner may be renewing the lease
        if run is None:
            return False
        reply = Message.objects.select_related("conversation", "parent").get(pk=reply_id)
        ending = COMPLETE if _is_answered(reply, run) else STOPPED if run.stop_requested_at else INTERRUPTED
        settle_abandoned(reply_id, text=run.written_in(reply), error_code=ending.error_code)
        if ending == INTERRUPTED and may_be_made_again(reply, run):
            put_back(reply, run)
            _tell_later("a reply is made again because the lease of its worker was over", reply, run, INTERRUPTED)
        else:
            end_reply(reply_id, ending)
            _tell_later("a reply was ended because the lease of its worker was over", reply, run, ending)
    return True


def _over(reply_id: int) -> QuerySet[Run]:
    return Run.objects.filter(reply_id=reply_id, state=RunState.RUNNING, lease_until__lt=Now())


def _is_answered(reply: Message, run: Run) -> bool:
    """Tell whether the text is stored whole, and is no step's: it is counted as the request that gave it is settled."""
    return reply.content_tokens > 0 and not _open_calls(reply, run)


def _open_calls(reply: Message, run: Run) -> list[ToolCall]:
    """Return the calls of the step that the reply is at. What is continued calls none."""
    return [] if run.continues else list(ToolCall.objects.filter(reply=reply, message=None))


def may_be_made_again(reply: Message, run: Run) -> bool:
    """Tell whether nothing of the reply has come, or what its step asks for is stored and no call of it has begun.

    What a tool did is not done twice.
    """
    if run.stop_requested_at or run.attempt >= MOST_ATTEMPTS:
        return False
    if calls := _open_calls(reply, run):
        return all(call.started_at is None for call in calls)
    has_moved = not run.continues and reply.position != reply.first_position
    return not (has_moved or run.written_in(reply))


def may_be_given_back(reply: Message, run: Run) -> bool:
    """Tell whether a worker that has nothing left to connect with may leave the reply to another one.

    Nothing was sent for the step that it is at. However many have tried: for as long as one may take to make it.
    """
    is_late = timezone.now() - run.created_at > dt.timedelta(seconds=settings.REPLY_TIMEOUT_SECONDS)
    has_begun = any(call.started_at for call in _open_calls(reply, run))
    return not (run.stop_requested_at or is_late or has_begun or run.written_in(reply))


def put_back(reply: Message, run: Run) -> None:
    """Put the run back in the queue. What pages have shown of it and was not saved begins again."""
    held = Run.objects.filter(pk=run.pk)
    held.update(state=RunState.WAITING, waiting_since=Now(), worker="", lease_until=None, searches_web_now=False)
    conversation = reply.conversation.public_id
    step = 1 + reply.steps.filter(role="assistant").count()
    frames: list[Frame] = [ReplyRestarted(conversation, reply.pk, step)]
    if reply.content:
        frames.append(ReplyDelta(conversation, reply.pk, step, 0, reply.content))
    for frame in frames:
        transaction.on_commit(partial(publish_frame, frame, conversation))
    transaction.on_commit(partial(publish, RUNS, "waiting"))


def _tell_later(event: str, reply: Message, run: Run, ending: Ending) -> None:
    ids = {"run_id": run.pk, "reply_id": reply.pk, "user_id": reply.conversation.owner_id}
    told = {**ids, "worker": run.worker, "attempt": run.attempt, "error_code": ending.error_code}
    transaction.on_commit(metrics.leases_over.inc)
    transaction.on_commit(partial(logger.warning, event, extra=told))
