"""What a worker may do with a run only as long as it holds it: after the lease another one may have it."""

from __future__ import annotations

from django.db import transaction

from conversations.models import Message, Run
from conversations.services.replies.end_reply import Ending, end_reply
from conversations.services.replies.reap_reply import may_be_given_back, may_be_made_again, put_back
from conversations.services.replies.reasoning import Reasoning
from conversations.services.windows.active_path import lock_if_streaming

from .claim import ClaimedRun


def end_held_reply(run: ClaimedRun, ending: Ending, *, content: str, reasoning: Reasoning) -> bool:
    """End the reply of *run*. Returns False, and changes nothing, if it has ended, or another worker has the run."""
    with transaction.atomic():
        return end_reply(run.reply_id, ending, content=content, reasoning=reasoning, attempt=run.attempt)


def hand_back_reply(
    run: ClaimedRun, ending: Ending, *, content: str, reasoning: Reasoning, is_exhausted: bool = False
) -> bool:
    """Let another worker make the reply of *run*, of which nothing has come, as this one ends; else end it.

    So it does where this one *is_exhausted*. Returns False as `end_held_reply` does.
    """
    may_go_back = may_be_given_back if is_exhausted else may_be_made_again
    if content == run.text and reasoning.text == run.reasoning_text:
        with transaction.atomic():
            if not lock_if_streaming(run.reply_id):
                return False
            mine = Run.objects.filter(pk=run.id, state="running", attempt=run.attempt)
            held = mine.select_for_update(no_key=True).first()  # a call may be about to begin
            reply = Message.objects.select_related("conversation", "parent").get(pk=run.reply_id)
            if held and may_go_back(reply, held):
                put_back(reply, held)
                return True
    return end_held_reply(run, ending, content=content, reasoning=reasoning)
