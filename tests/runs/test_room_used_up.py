"""A model that thinks to the end of its room: the reply says so, and is made again with more in one press."""

from __future__ import annotations

import pytest

from conversations.core.errors.stored_errors import sentence_for
from conversations.models import Completion, Message, Scenario
from conversations.services.replies.regenerate_reply import regenerate_reply
from tests.support.people import begin, make_user, post
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
RESERVE = 1_024  # of a model with a context window of 4,096


async def ended(reply):
    return await wait_until(lambda: Message.objects.filter(pk=reply.pk).exclude(state="streaming").first())


async def again(reply, **options):
    def regenerate():
        conversation = Message.objects.select_related("conversation__owner").get(pk=reply.pk).conversation
        return regenerate_reply(user=conversation.owner, conversation=conversation, reply_id=reply.pk, **options)

    return await ended(await in_thread(regenerate))


async def reply_of(provider, model):
    provider(model)
    return await ended((await in_thread(lambda: post(begin(make_user("alice")), "Hello"))).reply)


async def test_it_is_said_with_the_room_that_there_was(worker, provider):
    reply = await reply_of(provider, f"thinking-only-{RESERVE}")
    assert (reply.state, reply.error_code) == ("failed", "room_used_up_by_reasoning")
    assert "used all 1,024 tokens of the reply reserve for thinking" in sentence_for(
        reply.error_code, reply.error_params
    )
    assert reply.reasoning.startswith("thought0 thought1")
    assert await in_thread(Completion.objects.count) == 1  # trying again unchanged would not help


async def test_twice_the_room_is_given_to_the_next_version_alone(worker, provider, upstream):
    reply = await reply_of(provider, f"thinking-only-{RESERVE}")
    second = await again(reply, more_room=True)
    assert (second.state, second.content) == ("complete", "Hello from the upstream.")
    assert upstream.log()[-1]["body"]["max_tokens"] == 2 * RESERVE
    third = await again(second)
    assert (third.state, upstream.log()[-1]["body"]["max_tokens"]) == ("failed", RESERVE)


async def test_it_grows_until_the_model_has_no_more_to_give(worker, provider, upstream):
    reply = await reply_of(provider, "thinking-only-4000")
    for _ in range(3):
        reply = await again(reply, more_room=True)
    assert reply.error_params == {"room_tokens": "3,072"}
    rooms = [exchange["body"]["max_tokens"] for exchange in upstream.log()]
    assert rooms == [RESERVE, 2_048, 3_072, 3_072]


async def test_other_replies_get_no_more_room_than_their_scenario_gives(worker, provider, upstream):
    reply = await reply_of(provider, "ok")
    await again(reply, more_room=True)
    assert upstream.log()[-1]["body"]["max_tokens"] == RESERVE


async def test_more_room_counts_from_what_the_scenario_gives(worker, provider, upstream):
    provider("thinking-only-300")
    conversation = await in_thread(lambda: begin(make_user("alice")))
    await in_thread(Scenario.objects.update, reply_reserve_tokens=300)
    reply = await ended((await in_thread(post, conversation, "Hello")).reply)
    assert reply.error_params == {"room_tokens": "300"}
    assert (await again(reply, more_room=True)).state == "complete"


async def test_a_length_limit_in_the_middle_of_the_answer_is_no_error(worker, provider):
    assert (await reply_of(provider, "length")).state == "complete"
