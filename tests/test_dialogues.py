"""The dialogues of the sources of this project's idea, replayed with the demo model.

kani's documentation: a person says their name; a window of the last four messages has forgotten it four messages later.
JetchatAI's articles on the sliding window: questions with large groundings at a 4,096-token model; the third succeeds
because a grounding is sent only with its own question.
"""

from __future__ import annotations

import pytest

from conversations.core.window.window_record import WindowRecord
from conversations.models import Completion, Message, Scenario
from conversations.runs.worker import Worker
from tests.support.people import begin, make_user, post
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
NAME = "My name is Andrew"
SMALL_TALK = ["What a lovely day.", "I like walking in the mountains."]
QUESTION = "What is my name?"


@pytest.fixture
async def worker(settings, transactional_db):
    settings.DEMO_TOKENS_PER_SECOND = 0
    worker = Worker()
    await worker.start()
    yield worker
    await worker.drain(timeout_seconds=0)


@pytest.fixture
async def conversation(worker):
    return await in_thread(lambda: begin(make_user("alice")))


async def say(conversation, content, grounding=()):
    """Send *content* and return the ended reply with its window record."""
    posted = await in_thread(post, conversation, content, grounding=grounding)
    reply = await wait_until(lambda: Message.objects.filter(pk=posted.reply.pk, state="complete").first())
    completion = await in_thread(Completion.objects.get, reply=reply)
    return reply, WindowRecord.from_json(completion.window)


async def keep_last_messages(conversation, count):
    def change():
        scenarios = Scenario.objects.filter(pk=conversation.scenario_id)
        scenarios.update(policy_name="last-n-messages", last_messages=count)

    await in_thread(change)


async def test_a_policy_that_keeps_four_messages_forgets_the_name(conversation):
    await keep_last_messages(conversation, 4)
    for content in (NAME, *SMALL_TALK):
        await say(conversation, content)
    reply, record = await say(conversation, QUESTION)
    assert "Andrew" not in reply.content
    assert (len(record.entries), record.messages_before_window) == (3, 4)  # from a question on


async def test_the_default_policy_remembers_the_name(conversation):
    for content in (NAME, *SMALL_TALK):
        await say(conversation, content)
    reply, record = await say(conversation, QUESTION)
    assert "Andrew" in reply.content
    assert record.messages_before_window == 0


async def test_the_name_falls_out_of_a_full_window_and_the_reply_says_so(conversation):
    await say(conversation, NAME)
    for _ in range(4):
        await say(conversation, "The weather was fine and the road was long. " * 90)
    reply, record = await say(conversation, QUESTION)
    assert "Andrew" not in reply.content
    assert record.messages_before_window > 0
    assert record.prompt_tokens <= record.budget_tokens


def sessions(topic):
    """Four passages of about 500 tokens each, as a look-up of conference sessions finds them."""
    text = f"A session about {topic} for those who build applications. " * 45
    return [{"text": f"{text}Room {room}.", "source": f"{topic}, session {room}", "score": 0.9} for room in range(1, 5)]


async def test_a_third_question_succeeds_because_groundings_are_sent_once(conversation):
    first, first_record = await say(conversation, "Which sessions are about mobile?", sessions("mobile"))
    _, second_record = await say(conversation, "Which sessions are about testing?", sessions("testing"))
    _, third_record = await say(conversation, "Thank you. Which room was the first one in?")

    assert first_record.grounding.tokens > 1000
    assert second_record.grounding.tokens > 1000
    assert third_record.grounding.tokens == 0
    sent = {entry.position: entry for entry in third_record.entries}
    question, answer = sent[0], sent[1]
    assert question.tokens < 20, "the first question is sent without its grounding"
    assert (answer.message, answer.kind) == (first.pk, "older")
    assert third_record.messages_before_window == 0


async def test_grounding_that_does_not_fit_is_cut_at_its_share_and_said_so(conversation):
    many = [{**passage, "source": f"{passage['source']} {copy}"} for copy in range(5) for passage in sessions("web")]
    _, record = await say(conversation, "Which sessions are about the web?", many)
    assert record.grounding.tokens <= record.grounding.limit_tokens <= record.budget_tokens // 2
    assert [passage.number for passage in record.grounding.included] == list(
        range(1, len(record.grounding.included) + 1)
    )
    assert len(record.grounding.included) + len(record.grounding.left_out) == len(many)
    assert record.grounding.left_out
