from __future__ import annotations

import asyncio
import datetime as dt
import json
import threading
from decimal import Decimal
from itertools import pairwise

import pytest
from django.db import connection, transaction
from django.db.models import Sum
from django.utils import timezone
from psycopg import DatabaseError

from conversations import metrics
from conversations.core.errors.stored_errors import sentence_for
from conversations.core.money.unit_prices import UnitPrices, cost_usd
from conversations.core.money.usage import Usage
from conversations.live.fanout import Subscriber, conversation_topic, subscribe
from conversations.models import Completion, Message, Run, Scenario, Spending, WorkerHeartbeat
from conversations.runs.worker import Worker
from conversations.selectors.conversations.sent_request import sent_request
from conversations.services.conversations.deletion import delete_conversation
from conversations.services.replies.make_reply import make_reply
from conversations.services.replies.regenerate_reply import regenerate_reply
from conversations.services.replies.stop_reply import stop_reply
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import begin, make_user, path_of, post
from tests.support.waiting import in_thread, wait_for_lock_waits, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
SECRET_WORDS = "A kingfisher by the lake"
RUN_IDS = ("run_id", "reply_id", "user_id", "conversation_id")
REPEATED = "windowseat_provider_requests_repeated_total"
PRICES = UnitPrices(Decimal(1), Decimal(2), Decimal("0.5"))


def ask(content="Hello"):
    return post(begin(make_user("alice")), content)


async def ended(reply):
    def reloaded():
        return Message.objects.filter(pk=reply.pk).exclude(state="streaming").first()

    return await wait_until(reloaded)


async def text_has_come(reply, length=1):
    await wait_until(lambda: len(Message.objects.get(pk=reply.pk).content) >= length)


async def test_a_worker_that_has_started_is_known_to_be_alive(transactional_db, monkeypatch):
    monkeypatch.setattr("conversations.runs.worker.FIRST_BEAT_SECONDS", PATIENCE_SECONDS)
    worker, locked, released = Worker(), threading.Event(), threading.Event()

    def lock_heartbeats():
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {WorkerHeartbeat._meta.db_table}")
            locked.set()
            released.wait(PATIENCE_SECONDS)

    locking = asyncio.create_task(in_thread(lock_heartbeats))
    await in_thread(locked.wait, PATIENCE_SECONDS)
    starting = asyncio.create_task(worker.start())
    await in_thread(wait_for_lock_waits)
    had_started = starting.done()
    released.set()
    await asyncio.gather(locking, starting)
    try:
        assert not had_started
        assert await in_thread(WorkerHeartbeat.objects.filter(name=worker.name).exists)
    finally:
        await worker.drain(timeout_seconds=0)


async def test_it_makes_the_reply_and_settles_the_ledger(worker, provider):
    provider("ok")
    reply = await ended((await in_thread(ask)).reply)
    assert (reply.state, reply.content, reply.content_tokens) == ("complete", "Hello from the upstream.", 5)
    completion = await in_thread(Completion.objects.get)
    usage = Usage(completion.input_tokens, completion.output_tokens, completion.cached_input_tokens)
    assert completion.cost_usd == cost_usd(usage, PRICES) > 0
    assert (completion.usage_estimated, completion.finish_reason) == (False, "stop")
    assert completion.time_to_first_token_seconds <= completion.duration_seconds
    assert (await in_thread(Run.objects.get)).state == "ended"


async def test_an_answer_is_settled_and_ended_in_one_transaction(worker, provider, monkeypatch):
    def end_once_more(*_arguments, **_named):
        raise AssertionError("the reply has ended")

    provider("ok")
    monkeypatch.setattr("conversations.runs.worker.end_held_reply", end_once_more)
    reply = await ended((await in_thread(ask)).reply)
    await wait_until(lambda: not worker._active)
    assert (reply.state, reply.content) == ("complete", "Hello from the upstream.")
    assert len(set(await in_thread(writers_of, reply))) == 1


async def test_one_that_might_have_called_tools_ends_after_its_request_is_settled(worker, provider):
    """What its run reserved is released then, in parts of the sums in which another request may be settled."""

    def ask_with_tools():
        conversation = begin(make_user("alice"))
        Scenario.objects.update(tools=["calculator"])
        return post(conversation, "Hello")

    provider("ok")
    reply = await ended((await in_thread(ask_with_tools)).reply)
    assert (reply.state, reply.content) == ("complete", "Hello from the upstream.")
    of_reply, of_run, of_completion = await in_thread(writers_of, reply)
    assert of_reply == of_run != of_completion
    assert await in_thread(Spending.objects.aggregate, Sum("reserved_usd")) == {"reserved_usd__sum": 0}


def writers_of(reply):
    """The transactions that have last written the reply, its run and its request."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT reply.xmin, run.xmin, completion.xmin FROM conversations_message AS reply "
            "JOIN conversations_run AS run ON run.reply_id = reply.id "
            "JOIN conversations_completion AS completion ON completion.reply_id = reply.id WHERE reply.id = %s",
            [reply.pk],
        )
        return cursor.fetchone()


async def test_the_provider_is_sent_what_the_record_says(worker, provider, upstream):
    provider("ok")
    await ended((await in_thread(ask, "What is the weather?")).reply)
    sent = upstream.log()[-1]["body"]
    completion = await in_thread(Completion.objects.get)
    assert sent["messages"] == [{"role": "user", "content": "What is the weather?"}]
    assert len(completion.window["entries"]) == len(sent["messages"])
    assert completion.estimated_input_tokens == completion.window["prompt_tokens"]


async def test_stop_closes_the_connection_and_keeps_the_text(worker, provider, upstream):
    provider("endless")
    posted = await in_thread(ask)
    await text_has_come(posted.reply)
    await in_thread(stop_reply, conversation=posted.message.conversation, reply_id=posted.reply.pk)
    reply = await ended(posted.reply)
    exchange = upstream.wait_until_ended()
    assert (reply.state, exchange["ended"]) == ("stopped", "disconnected")
    assert "".join(exchange["emitted"]).startswith(reply.content)
    completion = await in_thread(Completion.objects.get)
    assert completion.usage_estimated
    assert completion.output_tokens == reply.content_tokens


async def test_thoughts_that_were_cut_before_the_first_word_are_paid_for(worker, provider):
    provider("thinking-cut")
    reply = await ended((await in_thread(ask)).reply)
    completions = await in_thread(list, Completion.objects.filter(reply=reply))
    assert (reply.state, reply.content) == ("failed", "")
    assert {completion.output_tokens > 0 and completion.usage_estimated for completion in completions} == {True}


async def test_a_reply_stopped_before_its_first_step_ends_too(worker, provider):
    provider("endless")
    loop = asyncio.get_running_loop()

    def stop_as_soon_as_it_is_claimed(payload):
        """Look at every turn of the loop, so that this comes between the claim and the task's first step."""
        reply_id = json.loads(payload).get("reply")
        worker._hear(f"stop {reply_id}")
        if reply_id not in worker._active:
            loop.call_soon(stop_as_soon_as_it_is_claimed, payload)

    conversation = await in_thread(lambda: begin(make_user("alice")))
    subscribe(conversation_topic(conversation.public_id), Subscriber(stop_as_soon_as_it_is_claimed))
    posted = await in_thread(post, conversation, "Hello")
    assert (await ended(posted.reply)).state == "stopped"
    await wait_until(lambda: not worker._active)


async def test_a_stop_is_no_failure_to_the_ledger(worker, provider):
    provider("endless")
    posted = await in_thread(ask)
    await text_has_come(posted.reply)
    await in_thread(stop_reply, conversation=posted.message.conversation, reply_id=posted.reply.pk)
    await ended(posted.reply)
    completion = await in_thread(Completion.objects.get)
    assert (completion.error_code, completion.finish_reason) == ("", "stopped")


async def test_deleting_the_conversation_stops_its_reply(worker, provider, upstream):
    provider("endless")
    posted = await in_thread(ask)
    await text_has_come(posted.reply)
    await in_thread(delete_conversation, posted.message.conversation)
    assert (await ended(posted.reply)).state == "stopped"
    assert upstream.wait_until_ended()["ended"] == "disconnected"


async def test_a_provider_that_takes_too_long_altogether_is_cut_off(worker, provider, settings):
    settings.REPLY_TIMEOUT_SECONDS = 5  # its first words come before that, however slow the machine is
    provider("endless")
    reply = await ended((await in_thread(ask)).reply)
    completion = await in_thread(Completion.objects.get)
    assert (reply.state, reply.error_code, completion.error_code) == ("failed", *["provider_timed_out"] * 2)
    assert reply.content


async def test_a_refusal_in_the_worker_keeps_its_numbers(worker, provider):
    def shrink_the_window(posted):
        Scenario.objects.update(cap_tokens=20)
        return posted

    provider("ok")
    await worker.drain(timeout_seconds=0)
    posted = await in_thread(lambda: shrink_the_window(ask("word " * 50)))
    other = Worker()
    await other.start()
    reply = await ended(posted.reply)
    await other.drain(timeout_seconds=0)
    assert reply.error_code == "message_too_long"
    assert "tokens too long" in sentence_for(reply.error_code, reply.error_params)


async def test_stopping_twice_changes_nothing(worker, provider):
    provider("ok")
    posted = await in_thread(ask)
    reply = await ended(posted.reply)
    await in_thread(stop_reply, conversation=posted.message.conversation, reply_id=reply.pk)
    assert (await ended(reply)).state == "complete"


async def test_a_reply_that_no_one_makes_yet_can_be_stopped(transactional_db):
    posted = await in_thread(ask)
    await in_thread(stop_reply, conversation=posted.message.conversation, reply_id=posted.reply.pk)
    assert (await ended(posted.reply)).state == "stopped"


@pytest.mark.parametrize(
    ("model", "error_code"),
    [
        ("status-401", "credentials_rejected"),
        ("status-404", "language_model_not_found"),
        ("quota-429", "quota_exhausted"),
        ("context-400", "context_too_long"),
        ("role-only", "empty_reply"),
        ("html-200", "malformed_stream"),
    ],
)
async def test_a_failure_is_said_by_class_and_not_tried_again(worker, provider, upstream, model, error_code):
    provider(model)
    reply = await ended((await in_thread(ask)).reply)
    assert (reply.state, reply.error_code) == ("failed", error_code)
    assert len(upstream.log()) == await in_thread(Completion.objects.count) == 1


async def test_a_provider_that_is_away_for_a_moment_is_asked_again(worker, provider, upstream):
    provider("status-503-times-2")
    reply = await ended((await in_thread(ask)).reply)
    assert (reply.state, reply.content) == ("complete", "Hello from the upstream.")
    rows = await in_thread(lambda: list(Completion.objects.order_by("id").values_list("attempt", "error_code")))
    assert rows == [(1, "provider_unavailable"), (2, "provider_unavailable"), (3, "")]


async def test_each_repetition_is_one_line_of_the_log_and_counted(worker, provider, log_lines):
    def repeated():
        return metrics.REGISTRY.get_sample_value(REPEATED, {"error_code": "provider_unavailable"}) or 0

    before = repeated()
    provider("status-503-times-2")
    reply = await ended((await in_thread(ask, SECRET_WORDS)).reply)
    lines = log_lines("made again after a pause")
    assert [(line["attempt"], line["error_code"]) for line in lines] == [(n, "provider_unavailable") for n in (1, 2)]
    run = await in_thread(lambda: Run.objects.select_related("reply__conversation").get(reply=reply))
    conversation = run.reply.conversation
    ids = {"run_id": run.pk, "reply_id": reply.pk, "user_id": conversation.owner_id}
    for line in lines:
        assert ids | {"conversation_id": str(conversation.public_id)} == {name: line[name] for name in RUN_IDS}
        assert SECRET_WORDS not in str(line)
        assert "sk-canary" not in str(line)
    assert repeated() - before == 2


async def test_it_gives_up_after_two_retries(worker, provider, upstream):
    provider("status-500")
    assert (await ended((await in_thread(ask)).reply)).error_code == "provider_unavailable"
    assert len(upstream.log()) == 3


@pytest.mark.parametrize(
    ("status", "code"), [(429, "provider_rate_limited_until"), (503, "provider_unavailable_until")]
)
async def test_a_provider_that_names_a_late_time_is_not_asked_again_and_the_time_is_told(
    worker, provider, upstream, status, code
):
    provider(f"status-{status}-after-3600")
    before = timezone.now()
    reply = await ended((await in_thread(ask)).reply)
    assert reply.error_code == code
    again_at = dt.datetime.fromisoformat(reply.error_params["again_at"])
    assert before + dt.timedelta(hours=1) <= again_at <= timezone.now() + dt.timedelta(hours=1)
    assert len(upstream.log()) == 1


async def test_nothing_is_tried_again_once_text_has_come(worker, provider, upstream):
    provider("cut-after-3")
    reply = await ended((await in_thread(ask)).reply)
    assert (reply.state, reply.error_code, reply.content) == ("failed", "stream_broken", "word0 word1 word2")
    assert len(upstream.log()) == 1


@pytest.mark.parametrize("model", ["no-finish", "eof-after-3"])
async def test_a_stream_without_a_finish_reason_is_never_complete(worker, provider, model):
    provider(model)
    reply = await ended((await in_thread(ask)).reply)
    assert (reply.state, reply.error_code) == ("failed", "stream_broken")
    assert reply.content


async def test_usage_that_is_not_reported_is_estimated_and_marked(worker, provider):
    provider("usage-none")
    reply = await ended((await in_thread(ask)).reply)
    completion = await in_thread(Completion.objects.get)
    assert completion.usage_estimated
    assert (completion.input_tokens, completion.output_tokens) == (
        completion.estimated_input_tokens,
        reply.content_tokens,
    )


@pytest.mark.parametrize("words", ["input_usd=1 output_usd=2", ""])
async def test_a_refused_request_costs_nothing_at_whatever_price(worker, provider, settings, words):
    provider("status-401")
    settings.LANGUAGE_MODELS = f"status-401 context_window=4096 {words}"
    await ended((await in_thread(ask)).reply)
    assert (await in_thread(Completion.objects.get)).cost_usd == 0


async def test_an_unknown_price_is_an_unknown_cost(worker, provider, settings):
    provider("ok")
    settings.LANGUAGE_MODELS = "ok context_window=4096"
    await ended((await in_thread(ask)).reply)
    assert (await in_thread(Completion.objects.get)).cost_usd is None


async def test_the_text_so_far_is_stored_while_it_streams(worker, provider):
    provider("held-40")
    posted = await in_thread(ask)
    await text_has_come(posted.reply, length=len(" ".join(f"word{number}" for number in range(40))))
    assert (await in_thread(Message.objects.get, pk=posted.reply.pk)).state == "streaming"


async def test_draining_lets_replies_end(worker, provider, upstream):
    provider("held-40")
    posted = await in_thread(ask)
    await text_has_come(posted.reply)
    draining = asyncio.create_task(worker.drain(timeout_seconds=PATIENCE_SECONDS))
    await wait_until(lambda: not worker._accepting)
    upstream.release()
    await draining
    assert (await in_thread(Message.objects.get, pk=posted.reply.pk)).state == "complete"


async def test_draining_interrupts_what_takes_too_long(worker, provider, log_lines):
    provider("endless")
    posted = await in_thread(ask)
    await text_has_come(posted.reply)
    await worker.drain(timeout_seconds=0.1)
    reply = await ended(posted.reply)
    assert (reply.state, reply.error_code) == ("interrupted", "reply_interrupted")
    assert reply.content
    [interrupted], [drained] = log_lines("the reply was interrupted"), log_lines("the run worker has drained")
    assert interrupted["reply_id"] == reply.pk
    assert (drained["worker"], drained["replies"]) == (worker.name, 1)


async def test_a_lease_that_was_lost_is_one_line_of_the_log(worker, provider, log_lines):
    provider("endless")
    posted = await in_thread(ask)
    await text_has_come(posted.reply)
    await in_thread(Run.objects.filter(reply=posted.reply).update, worker="another", attempt=2)
    await wait_until(lambda: log_lines("the reply was interrupted"))
    [lost] = log_lines("the lease of a reply was lost")
    assert (lost["reply_id"], lost["attempt"]) == (posted.reply.pk, 1)


async def test_draining_leaves_a_reply_of_which_nothing_has_come_to_another_worker(worker, provider, upstream):
    provider("hang-before-times-1")
    posted = await in_thread(ask)
    await wait_until(lambda: upstream.log())
    await worker.drain(timeout_seconds=0.1)
    assert (await in_thread(Run.objects.get, reply=posted.reply)).state == "waiting"
    other = Worker()
    await other.start()
    try:
        reply = await ended(posted.reply)
    finally:
        await other.drain(timeout_seconds=0)
    assert (reply.state, reply.content) == ("complete", "Hello from the upstream.")
    rows = await in_thread(lambda: [row.error_code for row in reply.completions.order_by("pk")])
    assert rows == ["reply_interrupted", ""]


@pytest.mark.parametrize("error", [MemoryError(), DatabaseError("out of memory for query result")])
async def test_a_reply_for_which_there_was_no_memory_is_made_again(worker, provider, monkeypatch, error):
    provider("ok")
    errors = [error, error]

    async def make_or_fail(*arguments, **named):
        if errors:
            raise errors.pop()
        return await make_reply(*arguments, **named)

    monkeypatch.setattr("conversations.runs.worker.make_reply", make_or_fail)
    reply = await ended((await in_thread(ask)).reply)
    assert (reply.state, reply.content) == ("complete", "Hello from the upstream.")


async def test_a_reply_that_is_too_large_for_any_worker_ends(worker, provider, monkeypatch):
    async def fail(*_arguments, **_named):
        raise MemoryError

    provider("ok")
    monkeypatch.setattr("conversations.runs.worker.make_reply", fail)
    reply = await ended((await in_thread(ask)).reply)
    assert (reply.state, reply.error_code) == ("interrupted", "reply_interrupted")
    assert (await in_thread(Run.objects.get)).attempt == 3


async def test_regenerating_makes_a_sibling_and_overwrites_nothing(worker, provider):
    provider("ok")
    posted = await in_thread(ask)
    first = await ended(posted.reply)
    second = await ended(await in_thread(again, posted.message.conversation, first))
    path = await in_thread(path_of, posted.message.conversation)
    assert path == [("user", "complete", "Hello"), ("assistant", "complete", "Hello from the upstream.")]
    first = await in_thread(Message.objects.get, pk=first.pk)
    assert (first.active, second.active, second.parent_id) == (False, True, posted.message.pk)


def again(conversation, reply):
    return regenerate_reply(user=conversation.owner, conversation=conversation, reply_id=reply.pk)


async def test_what_was_sent_can_be_shown_exactly_as_it_was(worker, provider, upstream):
    provider("ok")
    conversation = await in_thread(lambda: begin(make_user("alice")))
    await in_thread(Scenario.objects.update, system_prompt="Be kind.")
    posted = await in_thread(post, conversation, "What is the weather?")
    await ended(posted.reply)
    again = await in_thread(post, conversation, "And where?", grounding=[{"text": "Far. " * 9}])
    await ended(again.reply)
    await in_thread(Scenario.objects.update, system_prompt="Be rude.", sampling={"temperature": 2})
    completion = await in_thread(Completion.objects.select_related("system_prompt").first)
    request = await in_thread(sent_request, completion)
    assert request.is_exact
    assert request.body == upstream.log()[-1]["body"]
    assert [message["role"] for message in request.body["messages"]] == ["system", "user", "assistant", "user"]


async def test_the_next_window_begins_where_the_last_one_did(worker, provider):
    provider("ok")
    conversation = await in_thread(lambda: begin(make_user("alice")))
    await in_thread(Scenario.objects.filter(is_default=True).update, cap_tokens=300)
    beginnings = []
    for number in range(12):
        posted = await in_thread(post, conversation, f"{number}: " + "word " * 30)
        await ended(posted.reply)
        completion = await in_thread(Completion.objects.get, reply=posted.reply)
        beginnings.append(completion.window["first_position"])
        await in_thread(conversation.refresh_from_db)
        assert (conversation.anchor_position or 0) == beginnings[-1]
    moves = [after - before for before, after in pairwise(beginnings) if after != before]
    assert 2 <= len(moves) <= 4, "it moves now and then"
    assert min(moves) > 2, "and then by several messages"


async def test_an_event_of_twenty_megabytes_is_no_reply(worker, provider):
    provider("megabytes-20")
    reply = await ended((await in_thread(ask)).reply)
    completion = await in_thread(Completion.objects.get)
    assert (reply.state, reply.error_code, completion.error_code) == ("failed", *["malformed_stream"] * 2)
    assert completion.ended_at


@pytest.mark.parametrize("megabytes", [2, 7])
async def test_a_provider_that_sends_far_more_than_was_asked_for_is_cut_off(worker, provider, upstream, megabytes):
    provider(f"megabytes-{megabytes}")
    reply = await ended((await in_thread(ask)).reply)
    asked_tokens = upstream.log()[-1]["body"]["max_tokens"]
    assert reply.state == "complete"
    assert asked_tokens < reply.content_tokens <= 4 * asked_tokens
    completion = await in_thread(Completion.objects.get)
    assert (completion.usage_estimated, completion.finish_reason) == (True, "length")
    assert completion.output_tokens == reply.content_tokens
