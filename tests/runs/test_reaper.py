from __future__ import annotations

import datetime as dt

import pytest
from django.utils import timezone

from conversations.models import Completion, Message, Run
from conversations.runs.claim import claim_runs, renew_leases
from conversations.runs.live_reply import StepText
from conversations.runs.reaper import reap_once
from conversations.runs.save_text import save_texts
from conversations.services.replies.end_reply import Ending, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from tests.support.ledger import open_for
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def abandoned():
    """A reply of a worker that died after a few words, its request still open in the ledger."""
    reply = post(begin(make_user("alice")), "Hello").reply
    claim_runs("dead", limit=1)
    prepared = prepare_reply(reply.pk)
    open_for(prepared)
    save_texts({reply.pk: StepText(reply.position, "As I was say")})
    return reply


def expire(reply):
    Run.objects.filter(reply=reply).update(lease_until=timezone.now() - dt.timedelta(seconds=1))


def test_a_reply_whose_worker_is_gone_is_interrupted_and_keeps_its_text(abandoned):
    expire(abandoned)
    assert reap_once() == 1
    abandoned.refresh_from_db()
    assert (abandoned.state, abandoned.error_code) == ("interrupted", "reply_interrupted")
    assert (abandoned.content, abandoned.content_tokens > 0) == ("As I was say", True)


def test_what_it_used_is_estimated(abandoned):
    expire(abandoned)
    reap_once()
    completion = Completion.objects.get()
    assert completion.usage_estimated
    assert completion.ended_at
    assert completion.input_tokens == completion.estimated_input_tokens
    assert completion.output_tokens == Message.objects.get(pk=abandoned.pk).content_tokens


def test_a_request_left_open_by_who_ended_its_reply_is_settled(abandoned):
    end_reply(abandoned.pk, Ending("interrupted", "reply_interrupted"))
    reap_once()
    assert Completion.objects.get().ended_at is None  # the one that ended it may be about to settle it
    Run.objects.update(ended_at=timezone.now() - dt.timedelta(minutes=1))
    reap_once()
    assert Completion.objects.get().error_code == "reply_interrupted"


def test_an_old_request_is_left_open_only_as_long_as_its_reply_is_in_the_making(abandoned):
    Completion.objects.update(created_at=timezone.now() - dt.timedelta(hours=2))
    reap_once()
    assert Completion.objects.get().ended_at is None
    Run.objects.all().delete()
    reap_once()
    assert Completion.objects.get().ended_at


def test_a_lease_that_holds_is_left_alone(abandoned):
    assert reap_once() == 0


def test_a_prolonged_lease_holds(abandoned):
    expire(abandoned)
    run = Run.objects.get()
    assert renew_leases("dead", [run.pk]) == set()
    assert reap_once() == 0


def test_a_worker_learns_that_a_run_is_no_longer_its_own(abandoned):
    expire(abandoned)
    reap_once()
    run = Run.objects.get()
    assert renew_leases("dead", [run.pk]) == {run.pk}


def test_a_late_worker_cannot_change_a_reply_that_has_ended(abandoned):
    expire(abandoned)
    reap_once()
    save_texts({abandoned.pk: StepText(abandoned.position, "As I was saying")})
    assert not end_reply(abandoned.pk, Ending("complete"), content="As I was saying")
    abandoned.refresh_from_db()
    assert (abandoned.state, abandoned.content) == ("interrupted", "As I was say")


def test_a_run_is_claimed_by_one_worker_only():
    post(begin(make_user("alice")), "Hello")
    assert len(claim_runs("one", limit=5)) == 1
    assert claim_runs("two", limit=5) == []
