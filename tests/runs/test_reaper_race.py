"""The reaper and a worker that was only slow: one that renews its lease in time keeps its run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from conversations.models import Completion, Run
from conversations.runs.claim import claim_runs, renew_leases
from conversations.runs.live_reply import StepText
from conversations.runs.reaper import reap_once
from conversations.runs.save_text import save_texts
from conversations.services.ledger.ledger import Outcome, settle_completion
from conversations.services.replies.prepare_reply import prepare_reply
from conversations.services.windows.active_path import lock_if_streaming
from tests.support.ledger import open_for
from tests.support.people import begin, make_user, post
from tests.support.waiting import wait_for_lock_waits

from .leases import expire_lease

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def beside():
    """Run a function in another connection."""
    with ThreadPoolExecutor(1) as threads:
        yield lambda work: threads.submit(closing, work)


def closing(work):
    try:
        return work()
    finally:
        connection.close()


@pytest.fixture
def late():
    """A reply with some text, whose lease is over, of a worker that is only slow."""
    reply = post(begin(make_user("alice")), "Hello").reply
    claim_runs("slow", limit=1)
    open_for(prepare_reply(reply.pk))
    save_texts({reply.pk: StepText(reply.position, "As I was say")}, worker="slow")
    expire_lease(reply)
    return reply


def test_an_owner_that_renews_between_the_look_and_the_lock_keeps_its_run_and_its_bill(late, beside):
    with transaction.atomic():
        assert lock_if_streaming(late.pk)
        reaping = beside(reap_once)  # it has seen that the lease is over, and waits for the lock
        wait_for_lock_waits()
        assert beside_renewed(late) == set()
    assert reaping.result() == 0
    late.refresh_from_db()
    completion = Completion.objects.get()
    assert (late.state, completion.ended_at, Run.objects.get().state) == ("streaming", None, "running")
    assert settle_completion(completion, Outcome(text="As I was saying."))


def beside_renewed(reply):
    return renew_leases("slow", [Run.objects.get(reply=reply).pk])
