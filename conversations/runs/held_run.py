"""What a worker may do with a run only as long as it holds it: after the lease another one may have it."""

from __future__ import annotations

from django.db import transaction

from conversations.models import Run
from conversations.services.replies.end_reply import Ending, end_reply
from conversations.services.replies.reasoning import Reasoning
from conversations.services.windows.active_path import lock_if_streaming

from .claim import ClaimedRun


def end_held_reply(run: ClaimedRun, ending: Ending, *, content: str, reasoning: Reasoning) -> bool:
    """End the reply of *run*. Returns False, and changes nothing, if it has ended, or another worker has the run."""
    with transaction.atomic():
        if not lock_if_streaming(run.reply_id):
            return False
        held = Run.objects.filter(pk=run.id, state="running", attempt=run.attempt)
        return held.exists() and end_reply(run.reply_id, ending, content=content, reasoning=reasoning)
