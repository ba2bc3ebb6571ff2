"""A reply takes its steps along wherever it goes: off the path and back, out of the window and in again."""

from __future__ import annotations

import uuid

import pytest

from conversations.core.errors import MessageNotFound, MessageNotPinnable
from conversations.selectors.conversations.versions import versions_of_messages
from conversations.services.messages.edit_message import edit_message
from conversations.services.messages.mark_message import exclude_message, pin_message
from conversations.services.messages.switch_version import switch_version
from conversations.services.replies.regenerate_reply import regenerate_reply
from tests.support.people import post
from tests.support.waiting import in_thread

from .tools import NotedTool, call, script

LOOKS = script([call(x=1)], [call(x=2)], answer="A garden.")
WITH_STEPS = ["user", "assistant", "tool", "assistant", "tool", "assistant"]


async def roles(talk):
    path = await talk.path()
    assert [message.position for message in path] == list(range(len(path)))
    await in_thread(talk.conversation.refresh_from_db)
    assert talk.conversation.head_id == path[-1].pk
    return [message.role for message in path]


async def regenerate(talk, reply):
    anew = await in_thread(
        lambda: regenerate_reply(user=talk.conversation.owner, conversation=talk.conversation, reply_id=reply.pk)
    )
    return await talk.end(talk.begin(anew))


async def edit(talk, message, content):
    posted = await in_thread(
        lambda: edit_message(
            user=talk.conversation.owner,
            conversation=talk.conversation,
            message_id=message.pk,
            content=content,
            client_id=uuid.uuid4(),
        )
    )
    return await talk.end(talk.begin(posted.reply))


def exclude(talk, message, *, excluded=True):
    return in_thread(lambda: exclude_message(conversation=talk.conversation, message_id=message.pk, excluded=excluded))


def pin(talk, message):
    return in_thread(lambda: pin_message(conversation=talk.conversation, message_id=message.pk, pinned=True))


def show(talk, message):
    return in_thread(lambda: switch_version(conversation=talk.conversation, message_id=message.pk))


async def test_a_reply_made_again_begins_at_its_first_step(talk):
    first = await talk.ask(LOOKS, tool := NotedTool())
    second = await regenerate(talk, first)
    assert (second.state, second.position, len(tool.ran)) == ("complete", first.position, 4)
    assert await roles(talk) == WITH_STEPS
    assert not await in_thread(first.steps.filter(active=True).exists)


async def test_a_stopped_reply_can_be_made_again(talk):
    talk.tools = [NotedTool()]
    making = talk.begin((await in_thread(post, talk.conversation, LOOKS)).reply)
    await in_thread(talk.upstream.wait_for_requests, 2)
    making.cancel()
    stopped = await talk.end(making)
    again = await regenerate(talk, stopped)
    assert (stopped.state, again.state) == ("stopped", "complete")
    assert await roles(talk) == WITH_STEPS


async def test_versions_with_and_without_steps_can_be_shown_in_turn(talk):
    await talk.ask(LOOKS, NotedTool())
    question = (await talk.path())[0]
    second = await edit(talk, question, script(answer="Nothing."))
    short = await roles(talk)
    await show(talk, question)
    assert await roles(talk) == WITH_STEPS
    await show(talk, await in_thread(lambda: second.answered_message))
    assert await roles(talk) == short == ["user", "assistant"]


async def test_of_a_replys_versions_none_is_a_step(talk):
    first = await talk.ask(LOOKS, NotedTool())
    second = await regenerate(talk, first)
    parents = talk.conversation.messages.filter(active=True).values_list("pk", "parent")
    shown = await in_thread(lambda: versions_of_messages(talk.conversation.pk, dict(parents)))
    assert list(shown) == [second.pk]
    await show(talk, first)
    assert await roles(talk) == WITH_STEPS
    assert {message.step_of_id for message in await talk.path()} == {None, first.pk}


async def test_a_step_is_no_version(talk):
    first = await talk.ask(LOOKS, NotedTool())
    steps = (await talk.path())[1:-1]
    await regenerate(talk, first)
    for step in steps:
        with pytest.raises(MessageNotFound):
            await show(talk, step)


async def test_an_edited_question_takes_the_steps_of_its_reply_along(talk):
    await talk.ask(LOOKS, NotedTool())
    await edit(talk, (await talk.path())[0], script(answer="Nothing."))
    assert await roles(talk) == ["user", "assistant"]
    await talk.ask(LOOKS)
    assert await roles(talk) == ["user", "assistant", *WITH_STEPS]


async def test_an_excluded_reply_takes_its_steps_out_of_the_window_and_back(talk):
    reply = await talk.ask(LOOKS, NotedTool())
    await exclude(talk, reply)
    await talk.ask(script())
    assert [each["role"] for each in talk.prompts()[-1]] == ["user", "user"]
    await exclude(talk, reply, excluded=False)
    await talk.ask(script())
    assert [each["role"] for each in talk.prompts()[-1]] == [*WITH_STEPS, "user", "assistant", "user"]


async def test_a_step_is_excluded_only_with_its_reply(talk):
    reply = await talk.ask(LOOKS, NotedTool())
    step = (await talk.path())[2]
    await exclude(talk, step)
    excluded = {message.pk for message in await talk.path() if message.excluded}
    assert excluded == {reply.pk, *[message.pk for message in await talk.path() if message.step_of_id]}


async def test_a_step_cannot_be_pinned_but_its_reply_can(talk):
    reply = await talk.ask(LOOKS, NotedTool())
    for step in (await talk.path())[1:-1]:
        with pytest.raises(MessageNotPinnable):
            await pin(talk, step)
    assert (await pin(talk, reply)).pinned
