"""Stop a reply, or those of several conversations: the text so far is kept."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import QuerySet
from django.db.models.functions import Now

from conversations.access import find_reply
from conversations.live.fanout import RUNS, publish
from conversations.models import Conversation, Message, Run

from .end_reply import STOPPED, end_reply
from .reap_reply import reap_reply


def stop_reply(*, conversation: Conversation, reply_id: int) -> None:
    """Ask the worker to stop *reply_id*; what no living worker holds ends here. Stopping twice changes nothing."""
    reply = find_reply(conversation, reply_id)
    if reply.has_ended:
        return
    Run.objects.filter(reply=reply, stop_requested_at=None).exclude(state="ended").update(stop_requested_at=Now())
    if Run.objects.filter(reply=reply, state__in=("waiting", "awaiting_approval")).exists():
        end_reply(reply.pk, STOPPED)
    reap_reply(reply.pk)
    publish(RUNS, f"stop {reply.pk}")


def stop_replies(conversations: Collection[Conversation] | QuerySet[Conversation]) -> int:
    """Stop the replies that are being made in *conversations*. Returns how many that were."""
    streaming = Message.objects.filter(conversation__in=conversations, state="streaming")
    replies = list(streaming.select_related("conversation"))
    for reply in replies:
        stop_reply(conversation=reply.conversation, reply_id=reply.pk)
    return len(replies)
