"""Runs that await approval: decided, released, stopped or ended at the same moment, or never decided."""

from __future__ import annotations

import asyncio
import datetime as dt
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from chatsite.accounts.models import GateRule, User
from conversations.core.errors import CallNotAwaitingApproval, ConversationError, ConversationNotFound
from conversations.models import Conversation, Message, Run
from conversations.runs.awaiting_approval import await_approval, end_expired, expired_approvals
from conversations.runs.claim import claim_runs
from conversations.runs.reaper import reap_once
from conversations.runs.worker import ActiveRun, Worker
from conversations.services.conversations.deletion import delete_conversation
from conversations.services.portability.delete_account import delete_account
from conversations.services.replies.approve_tool_call import decide_call
from conversations.services.replies.stop_reply import stop_reply
from tests.support.awaiting_approval import (
    claim,
    decision,
    make_call_awaiting_approval,
    make_calls_awaiting_approval,
    store_tool_calls,
)
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import begin, make_user, post
from tests.support.waiting import in_thread, wait_for_lock_waits, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
NOTE = {"note": "Buy milk"}


@pytest.fixture
def call():
    return make_call_awaiting_approval(make_user("alice"), NOTE)


@pytest.fixture
def held():
    return hold_one()


def hold_one():
    """Return a call that awaits approval, and the run of its reply while a worker still has it."""
    reply = post(begin(make_user("alice")), "Write that down").reply
    run = claim(reply)
    return store_tool_calls(reply, NOTE)[0], run


def state_of(call):
    """Return the states of the reply, its run and the call, and why the reply has ended."""
    reply = Message.objects.get(pk=call.reply_id)
    call.refresh_from_db()
    return reply.state, reply.error_code, Run.objects.get(reply=reply).state, call.state


def let_time_pass(call):
    Run.objects.filter(reply_id=call.reply_id).update(lease_until=timezone.now() - dt.timedelta(seconds=1))


def stop(call):
    stop_reply(conversation=call.reply.conversation, reply_id=call.reply_id)


def test_a_reply_that_awaits_approval_has_no_worker_and_an_hour(call):
    run = Run.objects.get(reply_id=call.reply_id)
    assert (run.state, run.worker) == ("awaiting_approval", "")
    assert dt.timedelta(minutes=59) < run.lease_until - timezone.now() < dt.timedelta(minutes=61)
    assert claim_runs("another worker", limit=10).runs == []
    assert reap_once() == 0


def test_a_reply_without_a_decision_ends_and_says_so(call):
    let_time_pass(call)
    assert reap_once() == 1
    assert state_of(call) == ("stopped", "approval_timed_out", "ended", "stopped")


def test_a_decision_that_comes_while_it_is_given_up_wins(call):
    let_time_pass(call)
    [late] = expired_approvals()
    decide_call(**decision(call))
    assert not end_expired(late)
    assert state_of(call) == ("streaming", "", "waiting", "ready")


def test_one_that_asks_again_has_its_time_again(call):
    let_time_pass(call)
    [late] = expired_approvals()
    decide_call(**decision(call))
    make_calls_awaiting_approval(call.reply, NOTE, step=2)
    assert not end_expired(late)
    assert Run.objects.get(reply_id=call.reply_id).state == "awaiting_approval"


@pytest.mark.parametrize("fields", [{"is_active": False}, {"gate_rule": GateRule.BLOCKED}])
def test_the_reply_of_a_user_who_is_shut_out_ends(call, fields):
    User.objects.update(**fields)
    assert reap_once() == 1
    assert state_of(call) == ("stopped", "reply_access_revoked", "ended", "stopped")


def test_a_reply_in_a_deleted_conversation_ends_and_asks_no_one(call):
    delete_conversation(call.reply.conversation)
    assert state_of(call) == ("stopped", "", "ended", "stopped")
    with pytest.raises(ConversationNotFound):
        decide_call(**decision(call))


def test_an_account_can_be_deleted_while_a_reply_awaits_approval(call):
    make_user("ada", role="admin")
    delete_account(call.reply.conversation.owner)
    assert not Conversation.objects.exists()
    assert not Run.objects.exists()
    assert reap_once() == 0


def test_a_decision_before_the_run_awaits_approval_is_found(held):
    call, run = held
    decide_call(**decision(call))
    await_approval(run, content="Well,")
    assert state_of(call) == ("streaming", "", "waiting", "ready")
    assert Message.objects.get(pk=call.reply_id).content == "Well,"


def test_a_stop_before_the_run_awaits_approval_is_done(held):
    call, run = held
    stop(call)
    await_approval(run, content="Well,")
    assert state_of(call) == ("stopped", "", "ended", "stopped")
    assert Message.objects.get(pk=call.reply_id).content == "Well,"


def test_awaiting_approval_again_takes_nothing_from_the_next_worker(held):
    call, run = held
    await_approval(run, content="")
    decide_call(**decision(call))
    [again] = claim_runs("the next worker", limit=1).runs
    await_approval(run, content="old")
    stored = Run.objects.get(pk=again.id)
    assert (stored.state, stored.worker) == ("running", "the next worker")
    assert Message.objects.get(pk=call.reply_id).content == ""


# At the same moment: both wait for the reply's row, and go on together


async def at_once(call, *actions: Callable[[], Any]) -> list[Any]:
    """Do all *actions* at once, and return what they return, or the refusals that they raise."""
    held, release = threading.Event(), threading.Event()
    holding = asyncio.ensure_future(in_thread(hold, call.reply_id, held, release))
    try:
        await wait_until(held.is_set)
        doing = [asyncio.ensure_future(in_thread(outcome_of, action)) for action in actions]
        await in_thread(wait_for_lock_waits, len(actions))
    finally:
        release.set()
    await holding
    return await asyncio.gather(*doing)


def hold(reply_id, held: threading.Event, release: threading.Event) -> None:
    """Keep the row of a reply, as one does who is about to change it."""
    with transaction.atomic():
        Message.objects.select_for_update().get(pk=reply_id)
        held.set()
        release.wait(PATIENCE_SECONDS)


def outcome_of(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except ConversationError as error:
        return error


@pytest.mark.parametrize("first", ["let_go", "decide"])
async def test_a_decision_while_the_worker_lets_go_is_never_lost(transactional_db, first):
    call, run = await in_thread(hold_one)
    actions = {"let_go": lambda: await_approval(run, content=""), "decide": lambda: decide_call(**decision(call))}
    await at_once(call, actions.pop(first), *actions.values())
    assert await in_thread(state_of, call) == ("streaming", "", "waiting", "ready")


async def test_a_stop_while_the_worker_lets_go_is_never_lost(transactional_db):
    call, run = await in_thread(hold_one)
    await at_once(call, lambda: await_approval(run, content=""), lambda: stop(call))
    assert await in_thread(state_of, call) == ("stopped", "", "ended", "stopped")


async def test_of_two_who_decide_at_once_one_wins(transactional_db):
    call = await in_thread(lambda: make_call_awaiting_approval(make_user("alice"), NOTE))
    yes, no = await at_once(
        call, lambda: decide_call(**decision(call)), lambda: decide_call(**decision(call, allowed=False))
    )
    assert sorted(isinstance(outcome, CallNotAwaitingApproval) for outcome in (yes, no)) == [False, True]
    won = "refused" if isinstance(yes, CallNotAwaitingApproval) else "ready"
    assert await in_thread(state_of, call) == ("streaming", "", "waiting", won)


async def test_a_decision_and_a_stop_at_once_leave_no_call_behind(transactional_db):
    call = await in_thread(lambda: make_call_awaiting_approval(make_user("alice"), NOTE))
    await at_once(call, lambda: decide_call(**decision(call)), lambda: stop(call))
    assert await in_thread(state_of, call) == ("stopped", "", "ended", "stopped")


def let_go_and_wait(run, held: threading.Event, release: threading.Event) -> None:
    with transaction.atomic():
        await_approval(run, content="")
        held.set()
        release.wait(PATIENCE_SECONDS)


async def test_who_claims_it_again_does_not_lose_it_because_it_was_given_back(transactional_db):
    """The worker keeps the leases of what it made when it asked, and not of what it makes by the answer."""
    _, run = await in_thread(hold_one)
    worker, former, again = Worker(), ActiveRun(run), ActiveRun(run)
    worker.name = "a worker"
    former.work, again.work = [asyncio.create_task(asyncio.Event().wait()) for _ in range(2)]
    worker._active[run.reply_id] = former
    held, release = threading.Event(), threading.Event()
    letting_go = asyncio.ensure_future(in_thread(let_go_and_wait, run, held, release))
    await wait_until(held.is_set)
    keeping = asyncio.ensure_future(worker._keep_leases())
    await in_thread(wait_for_lock_waits, 1)
    worker._active[run.reply_id] = again
    release.set()
    await asyncio.gather(letting_go, keeping)
    assert (former.work.cancelling(), again.work.cancelling()) == (1, 0)
    again.work.cancel()
