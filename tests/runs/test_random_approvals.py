"""Whatever happens to replies that await approval, in whatever order: what ran was allowed, and ran once."""

from __future__ import annotations

import datetime as dt
from contextlib import suppress
from random import Random

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from conversations.core.errors import CallNotAwaitingApproval, ConversationError
from conversations.models import Message, Run, ToolCall
from conversations.runs.awaiting_approval import await_approval
from conversations.runs.claim import claim_runs
from conversations.runs.reaper import reap_once
from conversations.services.replies.approve_tool_call import decide_call
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.make_reply import ToolTime
from conversations.services.replies.regenerate_reply import regenerate_reply
from conversations.services.replies.run_tool_calls import ToolRunner, run_calls
from conversations.services.replies.stop_reply import stop_reply
from conversations.services.replies.tool_calls import begin_call, calls_of_step, store_step
from conversations.tools.tool import ToolContext
from tests.support.awaiting_approval import SIDE_EFFECTS, store_tool_calls, toolbox
from tests.support.people import begin, make_user, post
from tests.support.side_effects import NOTES_FILE

pytestmark = pytest.mark.django_db(transaction=True)
ACTIONS = 200
NOTES = ("Buy milk", "Buy tea")  # few, so that the same is asked for again and again


class Story:
    """One conversation, and everything that can happen to its newest reply. *allowed* are the calls it was said of."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.conversation = begin(make_user("alice"))
        self.reply = post(self.conversation, "Write that down").reply
        self.allowed: set[int] = set()
        self.died: set[int] = set()

    def act(self) -> None:
        often = {self.decide: 20, self.work: 12, self.again: 6, self.die: 1, self.stop: 1, self.be_late: 1}
        [action] = self.chance.choices(list(often), weights=list(often.values()))
        action()

    def decide(self) -> None:
        call = self._any_call()
        if call is None:
            return
        allowed, digest = self.chance.random() < 0.6, call.digest if self.chance.random() < 0.7 else "0" * 64
        with suppress(CallNotAwaitingApproval):
            decide_call(conversation=self.conversation, call_id=call.pk, digest=digest, allowed=allowed)
            assert digest == call.digest
            self.allowed |= {call.pk} if allowed else set()

    def _any_call(self) -> ToolCall | None:
        asks = self.chance.random() < 0.8
        calls = list(ToolCall.objects.filter(reply__active=True, **{"state": "awaiting_approval"} if asks else {}))
        return self.chance.choice(calls) if calls else None

    def work(self) -> None:
        """Be the worker: ask for something new, run what may be run, and wait again or end the reply."""
        for run in claim_runs("a worker", limit=1).runs:
            step = (
                1 + ToolCall.objects.filter(reply=run.reply_id, message__isnull=False).values("step").distinct().count()
            )
            calls = calls_of_step(run.reply_id, step)
            if not calls:
                store_tool_calls(
                    self.reply,
                    *({"note": self.chance.choice(NOTES)} for _ in range(self.chance.randint(1, 3))),
                    step=step,
                )
            async_to_sync(run_calls)(
                calls, ToolRunner(toolbox, ToolContext(1, 1, run.reply_id), ToolTime().left_seconds)
            )
            self._go_on(run, step)

    def _go_on(self, run, step: int) -> None:
        calls = calls_of_step(run.reply_id, step)
        if any(not call.has_ended for call in calls):
            await_approval(run, content="")
        elif self.chance.random() < 0.5:
            store_step(run.reply_id, step=step, text="")
            store_tool_calls(Message.objects.get(pk=run.reply_id), {"note": NOTES[0]}, step=step + 1)
            await_approval(run, content="")
        else:
            end_reply(run.reply_id, COMPLETE, content="Done.")

    def die(self) -> None:
        """Be a worker that is killed when it has just begun a call."""
        for run in claim_runs("a worker", limit=1).runs:
            ready = ToolCall.objects.filter(reply=run.reply_id, state="ready").first()
            if ready and begin_call(ready):
                self.died.add(ready.pk)
            self._let_time_pass()
            reap_once()

    def stop(self) -> None:
        stop_reply(conversation=self.conversation, reply_id=self.reply.pk)

    def be_late(self) -> None:
        self._let_time_pass()
        reap_once()

    def _let_time_pass(self) -> None:
        Run.objects.filter(lease_until__isnull=False).update(lease_until=timezone.now() - dt.timedelta(seconds=1))

    def again(self) -> None:
        with suppress(ConversationError):
            self.reply = regenerate_reply(
                user=self.conversation.owner, conversation=self.conversation, reply_id=self.reply.pk
            )


@pytest.mark.parametrize("seed", range(4))
def test_what_ran_was_allowed_and_ran_once(settings, monkeypatch, tmp_path, seed):
    settings.TOOL_MODULES, settings.MESSAGES_PER_MINUTE = SIDE_EFFECTS, 0
    notes = tmp_path / "notes"
    monkeypatch.setenv(NOTES_FILE, str(notes))
    story = Story(Random(seed))
    for _ in range(ACTIONS):
        story.act()
    begun = ToolCall.objects.filter(started_at__isnull=False)
    assert set(begun.values_list("pk", flat=True)) <= story.allowed
    really_run = [call.arguments for call in begun.exclude(pk__in=story.died)]
    written = notes.read_text().splitlines()
    assert sorted(written) == sorted(note for note in NOTES for arguments in really_run if note in arguments)
    assert written  # a story in which nothing was ever run would prove nothing
    assert (
        ToolCall.objects.filter(state__in=["awaiting_approval", "ready", "running"])
        .exclude(reply__state="streaming")
        .count()
        == 0
    )
