"""Wait, for a bounded time, until a reply whose stop was requested has ended: its worker needs a moment for that."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from conversations.core.errors import ReplyInProgress
from conversations.models import Conversation, Run
from conversations.models.run import RunState

P = ParamSpec("P")
R = TypeVar("R")
LONGEST_WAIT_SECONDS = 2.0
LOOK_AGAIN_SECONDS = 0.05


def wait_for_stopped_reply(conversation: Conversation) -> bool:
    """Return True once no reply of *conversation* is stopping; False if there was none, or it takes too long."""
    deadline = time.monotonic() + LONGEST_WAIT_SECONDS
    stopping = Run.objects.filter(reply__conversation_id=conversation.pk, stop_requested_at__isnull=False)
    stopping = stopping.exclude(state=RunState.ENDED)
    if not stopping.exists():
        return False
    while stopping.exists():
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_AGAIN_SECONDS)
    return True


def retry_after_stop(service: Callable[P, R]) -> Callable[P, R]:
    """Decorate a *service* that begins a reply in a `conversation`: one that is stopping there is waited for."""

    @wraps(service)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return service(*args, **kwargs)
        except ReplyInProgress:
            conversation = kwargs["conversation"]
            if not isinstance(conversation, Conversation) or not wait_for_stopped_reply(conversation):
                raise
        return service(*args, **kwargs)

    return wrapped
