"""Bring a reply to its one final state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from django.db import transaction
from django.db.models.functions import Now

from conversations.core.errors import ConversationError, ReplyInterrupted, ReplyShutOut
from conversations.core.frames import Frame, ReplyDone, ReplyFailed
from conversations.core.messages import PromptMessage
from conversations.fanout import publish_frame
from conversations.models import Message, Run

from .language import language_of

FinalState = Literal["complete", "stopped", "interrupted", "failed"]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a reply ended; if a `ConversationError` ended it, its code and the params of its sentence."""

    state: FinalState
    error_code: str = ""
    error_params: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def failed(cls, error: ConversationError) -> Ending:
        return cls("failed", error.code, error.params)


COMPLETE = Ending("complete")
STOPPED = Ending("stopped")
SHUT_OUT = Ending("stopped", ReplyShutOut.code)
INTERRUPTED = Ending("interrupted", ReplyInterrupted.code)


def end_reply(reply_id: int, ending: Ending, *, content: str | None = None) -> bool:
    """Give the reply its final state, and its *content* unless what is stored already is all there is.

    Returns False, and changes nothing, if it has ended before: the first to end it wins.
    """
    with transaction.atomic():
        reply = (
            Message.objects.select_for_update(of=("self",))
            .select_related("conversation__scenario")
            .filter(pk=reply_id, state="streaming")
            .first()
        )
        if reply is None:
            return False
        if content is not None:
            reply.content = content
        language = language_of(reply.conversation.scenario)
        reply.content_tokens = language.content_tokens(PromptMessage("assistant", reply.content))
        reply.encoding = language.language_model.encoding
        reply.state = ending.state
        reply.error_code, reply.error_params = ending.error_code, dict(ending.error_params)
        reply.save()
        Run.objects.filter(reply_id=reply_id).update(state="ended", ended_at=Now())
        transaction.on_commit(partial(publish_frame, _frame(reply), reply.conversation.public_id))
    return True


def _frame(reply: Message) -> Frame:
    conversation = reply.conversation.public_id
    if reply.state in ("complete", "stopped"):
        return ReplyDone(conversation, reply.pk, reply.position, reply.state, len(reply.content))
    return ReplyFailed(conversation, reply.pk, reply.position, reply.state, reply.error_code)
