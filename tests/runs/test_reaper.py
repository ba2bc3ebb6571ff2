from __future__ import annotations

import datetime as dt
from decimal import Decimal
from functools import partial

import pytest
from django.db import IntegrityError, OperationalError
from django.utils import timezone

from conversations.core.errors import ReplyInterrupted
from conversations.core.money.unit_prices import UnitPrices
from conversations.models import (
    ApiHeartbeat,
    Completion,
    Conversation,
    Message,
    Run,
    Spending,
    ToolCall,
    WorkerHeartbeat,
)
from conversations.models.completion import Purpose
from conversations.models.run import RunHolder
from conversations.runs import reaper
from conversations.runs.claim import MOST_OVERDUE, ClaimedRun, claim_runs, renew_leases
from conversations.runs.heartbeat import beat
from conversations.runs.held_run import end_held_reply, hand_back_reply
from conversations.runs.live_reply import StepText
from conversations.runs.reaper import reap_once, tidy_once
from conversations.runs.save_text import save_texts
from conversations.services.conversations.deletion import sweep_deleted_conversations
from conversations.services.ledger.ledger import NewCompletion, Outcome, open_completion, settle_completion
from conversations.services.ledger.reservations import WrittenText
from conversations.services.replies.end_reply import COMPLETE, INTERRUPTED, Ending, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from conversations.services.replies.reap_reply import MOST_ATTEMPTS
from conversations.services.replies.reasoning import NO_REASONING, Reasoning
from conversations.services.replies.stop_reply import stop_reply
from conversations.services.replies.tool_calls import begin_call
from conversations.services.windows.active_path import lock_streaming
from tests.support.ledger import open_for
from tests.support.people import begin, make_user, post

from .leases import expire_lease

pytestmark = pytest.mark.django_db


@pytest.fixture
def abandoned():
    """A reply of a worker that died after a few words, its request still open in the ledger."""
    reply = post(begin(make_user("alice")), "Hello").reply
    claim_runs("dead", limit=1)
    prepared = prepare_reply(reply.pk)
    open_for(prepared)
    save_texts({reply.pk: StepText(reply.position, "As I was say")}, worker="dead")
    return reply


def test_a_reply_whose_worker_is_gone_is_interrupted_and_keeps_its_text(abandoned):
    expire_lease(abandoned)
    assert reap_once() == 1
    abandoned.refresh_from_db()
    assert (abandoned.state, abandoned.error_code) == ("interrupted", "reply_interrupted")
    assert (abandoned.content, abandoned.content_tokens > 0) == ("As I was say", True)


@pytest.mark.parametrize(("state", "event"), [
    ("abandoned", "a reply was ended because the lease of its worker was over"),
    ("silent", "a reply is made again because the lease of its worker was over"),
])  # fmt: skip
def test_each_lease_that_is_over_is_one_line_of_the_log(
    request, state, event, log_lines, django_capture_on_commit_callbacks
):
    reply = request.getfixturevalue(state)
    expire_lease(reply)
    with django_capture_on_commit_callbacks(execute=True):
        reap_once()
    [line] = log_lines("lease of its worker")
    assert (line["event"], line["level"]) == (event, "warning")
    assert (line["reply_id"], line["run_id"]) == (reply.pk, reply.run.pk)
    assert (line["user_id"], line["worker"], line["attempt"]) == (reply.conversation.owner_id, "dead", 1)


def test_what_it_used_is_estimated(abandoned):
    expire_lease(abandoned)
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


@pytest.fixture
def killed(monkeypatch):
    """A worker that holds a reply and was killed on this machine, with a lease and a heartbeat that are valid."""
    monkeypatch.setattr(reaper, "is_gone", lambda name: name == "killed")
    reply = post(begin(make_user("alice")), "Hello").reply
    claim_runs("killed", limit=1)
    beat("killed")
    return reply


def test_a_reply_of_a_killed_worker_is_taken_up_before_its_lease_is_over(killed):
    beat("alive")
    assert reap_once() == 1
    assert [run.reply_id for run in claim_runs("alive", limit=1).runs] == [killed.pk]
    assert [each.name for each in WorkerHeartbeat.objects.all()] == ["alive"]


def test_the_heartbeat_of_the_last_worker_ends_by_its_age(killed):
    """One may be starting in its place: no page has to say for a second that there is none."""
    assert reap_once() == 1
    assert [each.name for each in WorkerHeartbeat.objects.all()] == ["killed"]


def test_a_prolonged_lease_holds(abandoned):
    expire_lease(abandoned)
    run = Run.objects.get()
    assert renew_leases("dead", [run.pk]) == set()
    assert reap_once() == 0


def test_a_worker_learns_that_a_run_is_no_longer_its_own(abandoned):
    expire_lease(abandoned)
    reap_once()
    run = Run.objects.get()
    assert renew_leases("dead", [run.pk]) == {run.pk}


def test_a_late_worker_cannot_change_a_reply_that_has_ended(abandoned):
    expire_lease(abandoned)
    reap_once()
    save_texts({abandoned.pk: StepText(abandoned.position, "As I was saying")}, worker="dead")
    assert not end_reply(abandoned.pk, Ending("complete"), content="As I was saying")
    abandoned.refresh_from_db()
    assert (abandoned.state, abandoned.content) == ("interrupted", "As I was say")


def made_again(reply):
    Run.objects.filter(reply=reply).update(lease_until=timezone.now() - dt.timedelta(seconds=1))
    assert reap_once() == 1
    return Run.objects.get(reply=reply)


@pytest.fixture
def silent():
    """A reply of a worker that died before the first token, its request still open in the ledger."""
    reply = post(begin(make_user("alice")), "Hello").reply
    claim_runs("dead", limit=1)
    open_for(prepare_reply(reply.pk))
    return reply


def test_a_reply_of_which_nothing_has_come_is_made_again_by_another_worker(silent):
    run = made_again(silent)
    assert (run.state, run.worker, run.lease_until) == ("waiting", "", None)
    completion = Completion.objects.get()
    assert (completion.error_code, completion.output_tokens) == ("reply_interrupted", 0)
    assert completion.ended_at
    [claimed] = claim_runs("other", limit=1).runs
    assert (claimed.reply_id, claimed.attempt) == (silent.pk, 2)


def test_so_many_workers_try(silent):
    for _ in range(MOST_ATTEMPTS - 1):
        assert made_again(silent).state == "waiting"
        claim_runs("dead", limit=1)
    assert made_again(silent).state == "ended"
    silent.refresh_from_db()
    assert silent.state == "interrupted"


def test_a_reply_that_has_thought_is_not_made_again(silent):
    save_texts({silent.pk: StepText(silent.position, "", Reasoning("Hm.", 1.0))}, worker="dead")
    assert made_again(silent).state == "ended"


def call(reply, **fields):
    return ToolCall.objects.create(reply=reply, step=1, index=0, call_id="a", tool="count_up", arguments="{}", **fields)


def settled(reply, content, **fields):
    """Let the request have ended, and store what it gave."""
    tokens = len(content.split())
    written = WrittenText(reply.pk, content, tokens, "", None, None)
    return settle_completion(Completion.objects.get(), Outcome(finish_reason="stop"), written=written, **fields)


def test_a_reply_whose_answer_is_stored_is_complete_and_not_asked_for_again(silent):
    assert settled(silent, "As I was saying.")
    assert made_again(silent).state == "ended"
    silent.refresh_from_db()
    assert (silent.state, silent.content, silent.error_code) == ("complete", "As I was saying.", "")
    assert Completion.objects.get().error_code == ""


def test_what_is_saved_late_does_not_shorten_an_answer_that_is_stored(silent):
    settled(silent, "As I was saying.")
    save_texts({silent.pk: StepText(silent.position, "As I")}, worker="dead")
    silent.refresh_from_db()
    assert silent.content == "As I was saying."


def test_a_worker_whose_run_was_taken_away_stores_no_answer(silent):
    made_again(silent)
    assert not settled(silent, "As I was saying.")
    silent.refresh_from_db()
    assert silent.content == ""


def test_an_answer_that_cannot_be_stored_with_its_calls_is_settled_all_the_same(silent):
    def store():
        raise ReplyInterrupted

    with pytest.raises(ReplyInterrupted):
        settled(silent, "", store=store)
    assert Completion.objects.get().ended_at


def test_a_reply_that_is_about_to_call_goes_on_with_its_calls(silent):
    settled(silent, "Well.", store=partial(call, silent, state="ready"))
    assert made_again(silent).state == "waiting"
    silent.refresh_from_db()
    assert (silent.state, silent.content) == ("streaming", "Well.")


def test_a_worker_whose_run_was_taken_away_asks_and_calls_no_more(silent):
    waiting, late = call(silent, state="ready"), RunHolder("dead", 1)
    Completion.objects.all().delete()
    open_for(prepare_reply(silent.pk), holder=late)
    made_again(silent)
    with pytest.raises(ReplyInterrupted):
        open_for(prepare_reply(silent.pk), holder=late)
    assert not begin_call(waiting, late)
    assert Completion.objects.count() == 1
    claim_runs("dead", limit=1)  # the same worker, which is not to take it for the claim that it had
    with pytest.raises(ReplyInterrupted):
        open_for(prepare_reply(silent.pk), holder=late)
    assert begin_call(waiting, RunHolder("dead", 2))


def handed_back(reply, **fields):
    [run] = [claimed_by(reply, "dead")]
    return hand_back_reply(run, INTERRUPTED, content="", reasoning=NO_REASONING, **fields)


def test_an_exhausted_worker_hands_back_however_many_have_tried(silent):
    Run.objects.update(attempt=MOST_ATTEMPTS)
    assert handed_back(silent, is_exhausted=True)
    assert Run.objects.get().state == "waiting"


def test_an_exhausted_worker_hands_nothing_back_after_the_time_of_a_reply(silent, settings):
    Run.objects.update(created_at=timezone.now() - dt.timedelta(seconds=settings.REPLY_TIMEOUT_SECONDS + 1))
    assert handed_back(silent, is_exhausted=True)
    assert Run.objects.get().state == "ended"


def test_a_reply_that_has_called_a_tool_is_not_made_again(silent):
    call(silent, state="running", started_at=timezone.now())
    assert made_again(silent).state == "ended"
    silent.refresh_from_db()
    assert silent.state == "interrupted"


def test_a_reply_whose_stop_was_requested_is_not_made_again(silent):
    Run.objects.update(stop_requested_at=timezone.now())
    assert made_again(silent).state == "ended"
    silent.refresh_from_db()
    assert silent.state == "stopped"


def test_stop_ends_a_reply_whose_worker_is_gone_at_once(abandoned):
    expire_lease(abandoned)
    stop_reply(conversation=abandoned.conversation, reply_id=abandoned.pk)
    abandoned.refresh_from_db()
    assert (abandoned.state, abandoned.content) == ("stopped", "As I was say")
    assert Completion.objects.get().ended_at


def test_a_late_worker_cannot_change_a_reply_that_another_one_makes(silent):
    late = claimed_by(silent, "dead")
    made_again(silent)
    save_texts({silent.pk: StepText(silent.position, "Too")}, worker="dead")
    assert not end_held_reply(late, COMPLETE, content="Too late", reasoning=NO_REASONING)
    with pytest.raises(ReplyInterrupted):
        lock_streaming(silent.pk, holder=RunHolder("dead", 1))
    [now] = claim_runs("other", limit=1).runs
    assert not end_held_reply(late, COMPLETE, content="Too late", reasoning=NO_REASONING)
    silent.refresh_from_db()
    assert (silent.state, silent.content) == ("streaming", "")
    lock_streaming(silent.pk, holder=RunHolder("other", 2))
    assert end_held_reply(now, COMPLETE, content="In time", reasoning=NO_REASONING)


def claimed_by(reply, worker):
    """Return what *worker* had when it claimed the run."""
    run = Run.objects.get(reply=reply, worker=worker)
    conversation = reply.conversation
    return ClaimedRun(run.pk, reply.pk, reply.position, conversation.public_id, conversation.owner_id, run.attempt)


def test_a_run_is_claimed_by_one_worker_only():
    post(begin(make_user("alice")), "Hello")
    assert len(claim_runs("one", limit=5).runs) == 1
    assert claim_runs("two", limit=5).runs == []


def test_a_worker_claims_no_more_than_its_share_while_others_are_alive():
    for number in range(12):
        post(begin(make_user(f"user{number}")), "Hello")
    beat("one"), beat("two")
    assert len(claim_runs("one", limit=100).runs) == 6
    assert claim_runs("one", limit=100).runs == []
    assert len(claim_runs("two", limit=100).runs) == 6


def test_a_worker_claims_what_has_waited_too_long_for_others():
    for number in range(12):
        post(begin(make_user(f"user{number}")), "Hello")
    beat("one"), beat("full")
    claim_runs("one", limit=100)
    Run.objects.filter(state="waiting").update(waiting_since=timezone.now() - dt.timedelta(seconds=2))
    assert len(claim_runs("one", limit=100).runs) == MOST_OVERDUE
    assert len(claim_runs("one", limit=100).runs) == 1


def test_a_worker_that_is_alone_claims_all_that_it_can_make():
    for number in range(5):
        post(begin(make_user(f"user{number}")), "Hello")
    beat("one"), beat("dead")
    WorkerHeartbeat.objects.filter(pk="dead").update(seen_at=timezone.now() - dt.timedelta(minutes=1))
    assert len(claim_runs("one", limit=4).runs) == 4
    assert len(claim_runs("one", limit=4).runs) == 1


def test_what_a_dead_process_left_open_for_a_program_is_released_once():
    """Each of several that reap at once finds the row; its reservation goes from the sums with the first."""
    user = make_user("alice")
    open_completion(
        NewCompletion(
            purpose=Purpose.API,
            user=user,
            language_model="demo",
            body={"messages": []},
            prices=UnitPrices(Decimal(1), Decimal(2)),
            prompt_tokens=1_000,
            most_prompt_tokens=1_000,
            max_output_tokens=1_000,
            holder_process="here",
        )
    )
    reserved = Spending.objects.filter(user=user, reserved_usd__gt=0)
    ApiHeartbeat.objects.create(name="here")
    reap_once()
    assert reserved.exists()
    ApiHeartbeat.objects.update(seen_at=timezone.now() - dt.timedelta(seconds=11))
    for _ in range(2):
        reap_once()
        row = Completion.objects.get()
        assert (row.error_code, row.input_tokens, row.output_tokens) == ("answer_interrupted", 1_000, 0)
        assert not reserved.exists()
        assert sum(Spending.objects.filter(user=user, period="day").values_list("spent_usd", flat=True)) == row.cost_usd
    assert not settle_completion(row, Outcome(text="late"))


# Tidying


def test_a_duty_that_fails_keeps_no_other_from_being_done(monkeypatch, caplog):
    """What is temporary is deleted also while something else can't be swept."""
    done = []

    def fail():
        raise ValueError("a row of the year 10000")

    monkeypatch.setattr(reaper, "TIDYING", (fail, lambda: done.append("sessions"), fail, lambda: done.append("days")))
    tidy_once()
    assert done == ["sessions", "days"]
    assert caplog.text.count("will be tried again") == 2


def test_while_the_database_is_away_nothing_more_is_tried(monkeypatch):
    done = []

    def fail():
        raise OperationalError("the connection is lost")

    monkeypatch.setattr(reaper, "TIDYING", (fail, lambda: done.append("days")))
    with pytest.raises(OperationalError):
        tidy_once()
    assert done == []


def test_a_conversation_that_can_not_be_deleted_keeps_no_other(monkeypatch):
    alice = make_user("alice")
    first, second = (begin(alice) for _ in range(2))
    for each in (first, second):
        post(each, "Hello")
        end_reply(each.messages.get(role="assistant").pk, COMPLETE, content="Hi")
    long_ago = timezone.now() - dt.timedelta(days=400)
    Conversation.objects.update(deleted_at=long_ago)
    delete = Conversation.delete

    def refuse_the_first(conversation):
        if conversation.pk == first.pk:
            raise IntegrityError("something still names it")
        return delete(conversation)

    monkeypatch.setattr(Conversation, "delete", refuse_the_first)
    assert sweep_deleted_conversations() == 1
    assert Conversation.objects.get().pk == first.pk
