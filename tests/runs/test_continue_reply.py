"""Replies that were cut off are continued: one message, whose text grows, and a row of the ledger for each request."""

from __future__ import annotations

import datetime as dt

import pytest
from django.utils import timezone

from chatsite.accounts.models import Limits
from conversations.core.errors import (
    ConversationNotFound,
    MessageExcluded,
    MessageRateReached,
    NothingToContinue,
    ReplyInProgress,
)
from conversations.core.prompt.continuation import CONTINUE_REQUEST
from conversations.core.prompt.written_prompt import write_prompt
from conversations.models import Completion, Message, Run, Scenario, ToolCall
from conversations.runs.claim import claim_runs
from conversations.runs.live_reply import StepText
from conversations.runs.reaper import reap_once
from conversations.runs.save_text import save_texts
from conversations.selectors.conversations.sent_request import sent_request
from conversations.services.replies.continue_reply import continue_reply
from conversations.services.replies.end_reply import COMPLETE, INTERRUPTED, STOPPED, Ending, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from conversations.services.replies.reap_reply import MOST_ATTEMPTS
from conversations.services.replies.reasoning import Reasoning
from conversations.services.replies.stop_reply import stop_reply
from tests.support.ledger import open_for
from tests.support.people import begin, make_user, path_of, post
from tests.support.tool_steps import add_call, end_step
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
FIVE = "word0 word1 word2 word3 word4"


def ask(content="Hello"):
    return post(begin(make_user("alice")), content).reply


def go_on(reply, *, length=None):
    reply = Message.objects.select_related("conversation__owner").get(pk=reply.pk)
    conversation = reply.conversation
    length = len(reply.content) if length is None else length
    return continue_reply(user=conversation.owner, conversation=conversation, reply_id=reply.pk, length=length)


async def ended(reply):
    return await wait_until(lambda: Message.objects.filter(pk=reply.pk).exclude(state="streaming").first())


def ledger(reply):
    return list(Completion.objects.filter(reply=reply).order_by("id"))


# The whole life


async def test_a_reply_whose_stream_broke_goes_on_behind_its_text(worker, provider, upstream):
    provider("cut-after-5")
    cut = await ended(await in_thread(ask))
    assert (cut.state, cut.error_code, cut.content) == ("failed", "stream_broken", FIVE)
    provider("ok")
    await in_thread(go_on, cut)
    whole = await ended(cut)
    assert (whole.state, whole.error_code, whole.content) == ("complete", "", FIVE + "Hello from the upstream.")
    assert await in_thread(path_of, await in_thread(lambda: whole.conversation)) == [
        ("user", "complete", "Hello"),
        ("assistant", "complete", whole.content),
    ]
    assert whole.content_tokens == 15
    assert upstream.log()[-1]["body"]["messages"] == [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": FIVE},
        {"role": "user", "content": CONTINUE_REQUEST},
    ]


async def test_each_request_is_its_own_row_and_is_shown_as_it_was_sent(worker, provider, upstream):
    provider("cut-after-5")
    cut = await ended(await in_thread(ask))
    provider("ok")
    await in_thread(go_on, cut)
    await ended(cut)
    first, second = await in_thread(ledger, cut)
    assert [(row.step, row.attempt, row.error_code) for row in (first, second)] == [(1, 1, "stream_broken"), (1, 2, "")]
    assert (first.usage_estimated, second.usage_estimated, second.output_tokens) == (True, False, 4)
    assert second.estimated_input_tokens == second.window["prompt_tokens"]
    assert [entry["kind"] for entry in second.window["entries"]] == ["newest", "text_so_far", "continue_request"]
    for row, exchange in zip((first, second), upstream.log(), strict=True):
        rebuilt = await in_thread(sent_request, await in_thread(Completion.objects.get, pk=row.pk))
        assert rebuilt.is_exact
        assert rebuilt.body == exchange["body"]


async def test_cut_off_again_it_keeps_the_longer_text_and_goes_on_once_more(worker, provider):
    provider("cut-after-5")
    cut = await ended(await in_thread(ask))
    await in_thread(go_on, cut)
    again = await ended(cut)
    assert (again.state, again.error_code, again.content) == ("interrupted", "stream_broken", FIVE + FIVE)
    provider("ok")
    await in_thread(go_on, again)
    assert (await ended(cut)).content == FIVE + FIVE + "Hello from the upstream."
    rows = await in_thread(ledger, cut)
    assert [(row.attempt, row.error_code) for row in rows] == [(1, "stream_broken"), (2, "stream_broken"), (3, "")]


@pytest.mark.parametrize(("model", "code"), [("status-401", "credentials_rejected"), ("cut-before", "stream_broken")])
async def test_a_request_that_brings_nothing_takes_nothing_away(worker, provider, model, code):
    provider("cut-after-5")
    cut = await ended(await in_thread(ask))
    provider(model)
    await in_thread(go_on, cut)
    kept = await ended(cut)
    assert (kept.state, kept.error_code, kept.content) == ("interrupted", code, FIVE)


async def test_one_that_is_refused_before_any_request_keeps_its_text(worker, provider):
    provider("cut-after-5")
    cut = await ended(await in_thread(ask))
    await worker.drain(timeout_seconds=0)
    await in_thread(go_on, cut)
    await in_thread(Scenario.objects.update, cap_tokens=20)
    await worker.start()
    worker._accepting = True
    kept = await ended(cut)
    assert (kept.state, kept.error_code, kept.content) == ("interrupted", "text_so_far_too_long", FIVE)
    await worker.drain(timeout_seconds=0)


async def test_a_reply_that_has_nothing_to_add_is_complete(worker, provider):
    provider("cut-after-5")
    cut = await ended(await in_thread(ask))
    provider("role-only")
    await in_thread(go_on, cut)
    whole = await ended(cut)
    assert (whole.state, whole.error_code, whole.content) == ("complete", "", FIVE)


async def test_a_reply_that_reached_its_length_goes_on(worker, provider):
    provider("length")
    cut = await ended(await in_thread(ask))
    assert cut.state == "complete"
    provider("ok")
    await in_thread(go_on, cut)
    assert (await ended(cut)).content == cut.content + "Hello from the upstream."


async def test_what_it_thinks_before_it_goes_on_is_added_to_its_reasoning(worker, provider):
    provider("cut-after-5")
    cut = await ended(await in_thread(ask))
    await in_thread(Message.objects.filter(pk=cut.pk).update, reasoning="So.", reasoning_seconds=1, reasoning_tokens=2)
    provider("reasoning")
    await in_thread(go_on, cut)
    whole = await ended(cut)
    assert whole.content.startswith(FIVE)
    assert whole.reasoning.startswith("So.\n\n")


async def test_stopped_while_it_goes_on_it_keeps_all_of_its_text(worker, provider, upstream):
    provider("cut-after-5")
    cut = await ended(await in_thread(ask))
    provider("endless")
    await in_thread(go_on, cut)
    await wait_until(lambda: len(Message.objects.get(pk=cut.pk).content) > len(FIVE))
    conversation = await in_thread(lambda: cut.conversation)
    await in_thread(stop_reply, conversation=conversation, reply_id=cut.pk)
    stopped = await ended(cut)
    assert stopped.state == "stopped"
    assert (FIVE + "".join(upstream.wait_until_ended()["emitted"])).startswith(stopped.content)


async def test_asked_for_twice_it_goes_on_once(worker, provider, upstream):
    provider("cut-after-5")
    cut = await ended(await in_thread(ask))
    provider("held-3")
    await in_thread(go_on, cut)
    await wait_until(lambda: len(Message.objects.get(pk=cut.pk).content) > len(FIVE))
    assert (await in_thread(go_on, cut, length=len(FIVE))).pk == cut.pk
    upstream.release()
    whole = await ended(cut)
    assert (await in_thread(go_on, cut, length=len(FIVE))).pk == cut.pk
    assert (await in_thread(Message.objects.get, pk=cut.pk)).state == whole.state == "complete"
    assert whole.content == FIVE + "word0 word1 word2"
    assert len(await in_thread(ledger, cut)) == 2


# Without a worker


@pytest.fixture
def cut():
    """A reply that a worker's death interrupted, with a request in the ledger."""
    reply = ask()
    claim_runs("dead", limit=1)
    open_for(prepare_reply(reply.pk))
    end_reply(reply.pk, INTERRUPTED, content="As I was say", reasoning=Reasoning("Hm."))
    reply.refresh_from_db()
    return reply


def test_no_other_reply_is_continued(cut):
    conversation = cut.conversation
    with pytest.raises(ConversationNotFound):
        continue_reply(user=conversation.owner, conversation=conversation, reply_id=cut.pk + 999, length=1)
    newer = post(conversation, "And now?").reply
    with pytest.raises(NothingToContinue):
        go_on(cut)
    with pytest.raises(ReplyInProgress):
        go_on(newer)
    end_reply(newer.pk, STOPPED, content="Well")
    with pytest.raises(NothingToContinue):
        go_on(newer)


@pytest.mark.parametrize(
    "ending", [COMPLETE, STOPPED, Ending("failed", "provider_rejected"), Ending("failed", "money_used_up")]
)
def test_a_reply_that_has_ended_otherwise_is_not_continued(ending):
    reply = ask()
    end_reply(reply.pk, ending, content="As I was saying")
    with pytest.raises(NothingToContinue):
        go_on(reply)


def test_a_reply_without_text_is_not_continued():
    reply = ask()
    end_reply(reply.pk, INTERRUPTED)
    with pytest.raises(NothingToContinue):
        go_on(reply)


@pytest.mark.parametrize("which", ["reply", "question"])
def test_what_is_excluded_is_not_sent_again(cut, which):
    Message.objects.filter(pk=cut.pk if which == "reply" else cut.parent_id).update(excluded=True)
    with pytest.raises(MessageExcluded):
        go_on(cut)


def test_it_counts_as_one_more_message_of_this_minute(cut):
    Limits.objects.create(user=cut.conversation.owner, messages_per_minute=2)
    go_on(cut)
    end_reply(cut.pk, INTERRUPTED)
    with pytest.raises(MessageRateReached):
        go_on(cut)
    Run.objects.update(asked_before=[timezone.now() - dt.timedelta(minutes=2)])
    go_on(cut)


def test_a_stop_before_a_worker_takes_it_leaves_its_text(cut):
    go_on(cut)
    stop_reply(conversation=cut.conversation, reply_id=cut.pk)
    cut.refresh_from_db()
    assert (cut.state, cut.content, cut.reasoning) == ("stopped", "As I was say", "Hm.")


def test_the_worker_that_takes_it_knows_what_there_was(cut):
    go_on(cut)
    [run] = claim_runs("alive", limit=1).runs
    assert (run.text, run.reasoning.text) == ("As I was say", "Hm.")


def die(reply):
    Run.objects.filter(reply=reply).update(lease_until=timezone.now() - dt.timedelta(seconds=1))
    assert reap_once() == 1
    reply.refresh_from_db()
    return Run.objects.get(reply=reply)


def test_a_worker_that_dies_before_its_first_word_is_replaced_and_the_text_stays(cut):
    go_on(cut)
    for _ in range(MOST_ATTEMPTS - 1):
        claim_runs("dead", limit=1)
        assert die(cut).state == "waiting"
        assert (cut.state, cut.content, cut.reasoning) == ("streaming", "As I was say", "Hm.")
    claim_runs("dead", limit=1)
    assert die(cut).state == "ended"
    assert (cut.state, cut.content) == ("interrupted", "As I was say")


def test_a_worker_that_dies_later_leaves_the_longer_text_and_pays_for_what_it_added(cut):
    go_on(cut)
    claim_runs("dead", limit=1)
    open_for(prepare_reply(cut.pk))
    save_texts({cut.pk: StepText(cut.position, "As I was saying, you")}, worker="dead")
    assert die(cut).state == "ended"
    assert (cut.state, cut.content) == ("interrupted", "As I was saying, you")
    assert [row.output_tokens for row in ledger(cut)][1] < cut.content_tokens
    assert go_on(cut).state == "streaming"


def test_a_reply_that_has_called_tools_goes_on_behind_them_and_calls_no_more():
    conversation = begin(make_user("alice"))
    Scenario.objects.update(tools=["calculator"])
    reply = post(conversation, "What is 17 * 23?").reply
    add_call(reply, "calculator", {"expression": "17 * 23"}, result="391")
    end_step(reply, text="Let me see.")
    end_reply(reply.pk, INTERRUPTED, content="It is thr")
    go_on(reply)
    prepared = prepare_reply(reply.pk)
    assert [(each.role, each.content) for each in prepared.window.prompt[-5:]] == [
        ("user", "What is 17 * 23?"),
        ("assistant", "Let me see."),
        ("tool", "391"),
        ("assistant", "It is thr"),
        ("user", CONTINUE_REQUEST),
    ]
    assert ToolCall.objects.filter(reply=reply).count() == 1
    body = {"messages": write_prompt(prepared.window.prompt, prepared.window.record.prompt_format)}
    completion = open_for(prepared, body=body, step=prepared.step)
    assert (prepared.step, prepared.earlier_requests) == (2, 0)
    assert sent_request(Completion.objects.get(pk=completion.pk)).is_exact
