"""The reaper and a worker that was only slow: one that renews its lease in time keeps its run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from django.db import connection, transaction

from conversations.models import Completion, Run
from conversations.runs.claim import claim_runs, renew_leases
from conversations.runs.live_reply import StepText
from conversations.runs.reaper import reap_once
from conversations.runs.save_text import save_texts
from conversations.services.ledger.ledger import Outcome, settle_abandoned, settle_completion
from conversations.services.ledger.reservations import WrittenText
from conversations.services.replies.end_reply import EndText, end_answered
from conversations.services.replies.prepare_reply import prepare_reply
from conversations.services.replies.reasoning import NO_REASONING
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


@pytest.mark.parametrize("taken", [{"state": "waiting", "worker": ""}, {"worker": "another", "attempt": 2}])
def test_an_answer_that_waits_for_who_takes_its_run_away_ends_nothing(late, beside, taken):
    prepared = prepare_reply(late.pk)
    end = partial(end_answered, prepared.reply, EndText("As I was saying.", 4), NO_REASONING, context=prepared.model)
    written = WrittenText(late.pk, "As I was saying.", 4, "", None, None)
    settle = partial(settle_completion, Completion.objects.get(), Outcome(finish_reason="stop"), written=written)
    with transaction.atomic():
        assert lock_if_streaming(late.pk)
        settling = beside(partial(settle, end=partial(end, attempt=1, finish_reason="stop")))
        wait_for_lock_waits()
        settle_abandoned(late.pk, text="As I was say", error_code="reply_interrupted")
        Run.objects.update(**taken)
    assert not settling.result()
    late.refresh_from_db()
    assert (late.state, late.content) == ("streaming", "As I was say")
    assert Completion.objects.get().error_code == "reply_interrupted"


def test_an_answer_that_waits_for_a_renewed_lease_and_a_saved_text_ends_its_reply(late, beside):
    prepared = prepare_reply(late.pk)
    end = partial(end_answered, prepared.reply, EndText("As I was saying.", 4), NO_REASONING, context=prepared.model)
    settle = partial(settle_completion, Completion.objects.get(), Outcome(finish_reason="stop"))
    with transaction.atomic():
        assert lock_if_streaming(late.pk)
        settling = beside(partial(settle, end=partial(end, attempt=1, finish_reason="stop")))
        wait_for_lock_waits()
        renew_leases("slow", [Run.objects.get().pk])
        save_texts({late.pk: StepText(late.position, "As I was sayin")}, worker="slow")
    assert settling.result()
    late.refresh_from_db()
    assert (late.state, late.content, Run.objects.get().state) == ("complete", "As I was saying.", "ended")


def beside_renewed(reply):
    return renew_leases("slow", [Run.objects.get(reply=reply).pk])
