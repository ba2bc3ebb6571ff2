"""Runs that wait for a person to say whether a tool may be called: no worker holds them, and they survive any restart.

    running ──park_run──▶ asking ──services/decide_call──▶ waiting ──▶ claimed again
                            └─ nobody decides in time, or may not any more ─▶ the reply ends as stopped

Whoever parks a run, decides about a call or ends the reply locks the reply's row first, so each sees what the others
have done.
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
from conversations.core.errors import CallUnanswered
from conversations.live.fanout import RUNS, publish, publish_asking
from conversations.models import Message, Run, ToolCall
from conversations.models.tool_call import ToolCallState
from conversations.services.replies.end_reply import SHUT_OUT, STOPPED, Ending, end_reply
from conversations.services.windows.active_path import hold_streaming

from .claim import ClaimedRun

UNANSWERED = Ending("stopped", CallUnanswered.code)
IS_OVER = ExpressionWrapper(Q(lease_until__lt=Now()), BooleanField())


def park_run(run: ClaimedRun, *, content: str) -> None:
    """Give the run back until somebody has decided about its calls; if that has been done meanwhile, it waits again.

    A stop that came too late for the worker is done here. Done twice, because the first answer was lost, this changes
    nothing: the run may be another worker's by then.
    """
    with transaction.atomic():
        is_streaming = hold_streaming(run.reply_id)
        mine = Run.objects.filter(pk=run.id, state="running", attempt=run.attempt)
        held = mine.select_for_update().first()  # whoever stops it writes into this row
        if not is_streaming or held is None:
            return
        if held.stop_requested_at:
            end_reply(run.reply_id, STOPPED, content=content)
            return
        Message.objects.filter(pk=run.reply_id).update(content=content)
        _give_back(held)


def _give_back(run: Run) -> None:
    held = Run.objects.filter(pk=run.pk)
    if ToolCall.objects.filter(reply_id=run.reply_id, state=ToolCallState.ASKS).exists():
        patience = dt.timedelta(minutes=settings.TOOL_CONSENT_MINUTES)
        held.update(state="asking", worker="", lease_until=Now() + patience)
        transaction.on_commit(partial(publish_asking, *_place_of(run), asks=True))
    else:
        held.update(state="waiting", worker="", lease_until=None)
        transaction.on_commit(partial(publish, RUNS, "waiting"))


def _place_of(run: Run) -> tuple[uuid.UUID, int]:
    """Return the conversation that the run is in, and whose that is."""
    replies = Message.objects.filter(pk=run.reply_id)
    return replies.values_list("conversation__public_id", "conversation__owner_id").get()


class GivenUp(NamedTuple):
    """A reply that is waited with no longer, and how it ends. *until* is the lease that the person had."""

    reply_id: int
    until: dt.datetime
    ending: Ending


def given_up() -> list[GivenUp]:
    """Return the replies whose people have not decided in time, or may not be in any more. Two statements for all."""
    fields = ("reply_id", "lease_until", "reply__conversation__owner_id")
    waiting = Run.objects.filter(state="asking").annotate(is_over=IS_OVER).values_list(*fields, "is_over")
    admissions = find_admissions({owner_id for _, _, owner_id, _ in waiting})
    shut_out = {owner_id for owner_id, admission in admissions.items() if admission is not Admission.ADMITTED}
    return [
        GivenUp(reply_id, until, SHUT_OUT if owner_id in shut_out else UNANSWERED)
        for reply_id, until, owner_id, is_over in waiting
        if is_over or owner_id in shut_out
    ]


def end_given_up(given_up: GivenUp) -> bool:
    """End the reply, unless somebody has decided about its calls in this moment."""
    with transaction.atomic():
        if not hold_streaming(given_up.reply_id):
            return False
        same = Run.objects.filter(reply_id=given_up.reply_id, state="asking", lease_until=given_up.until)
        return same.exists() and end_reply(given_up.reply_id, given_up.ending)
