"""An account is deleted at the very moment something of it is stored: each waits for the other in one order.

The deletion has one try here, so a circle of waiting, which the database breaks by ending one of both, fails the test.
It stops no reply: this one is as if it had begun just after that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal

import pytest
from django.db import connection, transaction
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.access import lock_admitted
from conversations.core.money.unit_prices import UnitPrices
from conversations.core.money.usage import Usage
from conversations.models import Completion, Message, Run, ToolCall
from conversations.models.tool_call import ToolCallState
from conversations.runs.awaiting_approval import await_approval
from conversations.runs.claim import ClaimedRun
from conversations.services.ledger.ledger import Outcome, settle_completion
from conversations.services.portability import delete_account as deletion
from conversations.services.replies.approve_tool_call import decide_call
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from conversations.services.replies.tool_calls import store_step
from conversations.services.windows.active_path import lock_streaming
from tests.support.ledger import open_for
from tests.support.people import begin, make_user, post
from tests.support.tool_steps import add_call, end_step
from tests.support.waiting import PATIENCE_SECONDS, wait_for_lock_waits

pytestmark = pytest.mark.django_db(transaction=True)
PRICES = UnitPrices(Decimal(1), Decimal(2), source="a test")
USED = Outcome(text="chirp", usage=Usage(100, 10), finish_reason="stop")


@pytest.fixture(autouse=True)
def one_try(monkeypatch):
    monkeypatch.setattr(deletion, "TRIES", 1)
    monkeypatch.setattr(deletion, "stop_replies", lambda conversations: None)


@pytest.fixture
def reply():
    """Return a reply that a worker makes, which has called a tool."""
    reply = post(begin(make_user("alice")), "Where?").reply
    add_call(reply)
    end_step(reply)
    Run.objects.filter(reply=reply).update(state="running", worker="w", attempt=1, lease_until=timezone.now())
    return reply


def closing(function: Callable[..., object], *arguments: object) -> object:
    """Call *function* in a thread of its own, which leaves no connection behind."""
    try:
        return function(*arguments)
    finally:
        connection.close()


@contextmanager
def deleted_meanwhile(reply: Message, locked: Callable[[], object]) -> Iterator[None]:
    """Do in one transaction what *locked* does, wait until the deletion waits for it, and go on; all of it has to end.

    The transaction ends before the deletion, so nothing of it is left.
    """
    with ThreadPoolExecutor(1) as crew:
        with transaction.atomic():
            locked()
            deleting = crew.submit(closing, deletion.delete_account, reply.conversation.owner)
            wait_for_lock_waits()
            yield
        deleting.result(timeout=PATIENCE_SECONDS)
    assert not any(model.objects.exists() for model in (User, Message, Run, ToolCall))


def test_while_a_step_is_stored(reply):
    add_call(reply, step=2)
    with deleted_meanwhile(reply, lambda: lock_streaming(reply.pk)):
        store_step(reply.pk, step=2, text="Let me see.")


def test_while_a_call_is_decided(reply):
    call = add_call(reply, step=2, state=ToolCallState.AWAITING_APPROVAL)
    Run.objects.filter(reply=reply).update(state="awaiting_approval")
    conversation = reply.conversation
    with deleted_meanwhile(reply, lambda: lock_admitted(conversation.owner)):
        decide_call(conversation=conversation, call_id=call.pk, digest=call.digest, allowed=True)


def test_while_a_run_awaits_approval(reply):
    add_call(reply, step=2, state=ToolCallState.AWAITING_APPROVAL)
    run = Run.objects.get(reply=reply)
    claimed = ClaimedRun(run.pk, reply.pk, reply.position, reply.conversation.public_id, 0, run.attempt)
    with deleted_meanwhile(reply, lambda: lock_streaming(reply.pk)):
        await_approval(claimed, content="Let me see.")


def test_while_the_reply_ends(reply):
    add_call(reply, step=2, state=ToolCallState.RUNNING)
    with deleted_meanwhile(reply, lambda: lock_streaming(reply.pk)):
        assert end_reply(reply.pk, COMPLETE, content="There.")


def test_while_the_next_request_of_a_loop_opens(reply):
    prepared = prepare_reply(reply.pk)
    with deleted_meanwhile(reply, lambda: Run.objects.select_for_update().get(reply=reply)):
        open_for(prepared, prices=PRICES, loop_usd=Decimal(1))
    assert Completion.objects.get().user is None


def test_while_a_request_is_settled(reply):
    completion = open_for(prepare_reply(reply.pk), prices=PRICES)
    with deleted_meanwhile(reply, lambda: Completion.objects.select_for_update().get(pk=completion.pk)):
        assert settle_completion(completion, USED)
    assert Completion.objects.get().cost_usd == Decimal("0.00012")
