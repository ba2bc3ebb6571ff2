"""Replies of models that think: what is stored of it, whatever happens to the reply."""

from __future__ import annotations

import pytest

from conversations.models import Completion, Message
from conversations.providers.tokens.tokenizer import count_text
from conversations.runs import live_reasoning
from conversations.services.replies.regenerate_reply import regenerate_reply
from conversations.services.replies.stop_reply import stop_reply
from tests.support.people import begin, make_user, post
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def ask(content="Hello"):
    return post(begin(make_user("alice")), content)


async def ended(reply):
    return await wait_until(lambda: Message.objects.filter(pk=reply.pk).exclude(state="streaming").first())


async def reply_of(provider, model):
    provider(model)
    return await ended((await in_thread(ask)).reply)


async def test_reasoning_is_stored_beside_the_content(worker, provider):
    reply = await reply_of(provider, "reasoning")
    assert (reply.content, reply.reasoning) == ("Hello from the upstream.", "They greet me.")
    assert reply.reasoning_tokens == count_text("o200k_base")("They greet me.")
    assert reply.reasoning_tokens_estimated
    assert reply.reasoning_seconds > 0


async def test_a_reply_without_reasoning_has_no_numbers_of_it(worker, provider):
    reply = await reply_of(provider, "ok")
    assert (reply.reasoning, reply.reasoning_tokens, reply.reasoning_seconds) == ("", None, None)


async def test_reported_tokens_count_and_stretches_between_the_text_belong_together(worker, provider):
    reply = await reply_of(provider, "reasoning-twice")
    assert (reply.content, reply.reasoning) == ("Hello from", "They greet me. How do I go on? That is all.")
    completion = await in_thread(Completion.objects.get)
    assert reply.reasoning_tokens == completion.reasoning_tokens == 1
    assert not reply.reasoning_tokens_estimated


async def test_reasoning_is_never_sent_again(worker, provider, upstream):
    reply = await reply_of(provider, "reasoning")
    conversation = await in_thread(lambda: Message.objects.select_related("conversation").get(pk=reply.pk).conversation)
    await ended((await in_thread(post, conversation, "And?")).reply)
    assert [message["content"] for message in upstream.log()[-1]["body"]["messages"]] == [
        "Hello",
        "Hello from the upstream.",
        "And?",
    ]
    assert "greet" not in str(upstream.log()[-1]["body"])


async def test_a_megabyte_is_cut(worker, provider):
    reply = await reply_of(provider, "thinking-megabyte")
    assert (reply.state, reply.content) == ("complete", "Hello from the upstream.")
    assert (len(reply.reasoning), reply.reasoning[:4]) == (1_000_000, "0: a")


async def test_what_cannot_be_stored_is_left_out(worker, provider):
    assert (await reply_of(provider, "thinking-strange")).reasoning == "A fox 🦊 ran, alone ."


async def test_it_is_saved_while_it_lasts_and_kept_when_the_reply_is_stopped(worker, provider, monkeypatch):
    monkeypatch.setattr(live_reasoning, "SAVED_EACH_SECONDS", 0.0)
    provider("thinking-held-50")
    posted = await in_thread(ask)
    thoughts = "".join(f" thought{number}" for number in range(50)).strip()
    reply = posted.reply
    await wait_until(lambda: Message.objects.get(pk=reply.pk).reasoning == thoughts)
    saved_seconds = await wait_until(lambda: Message.objects.get(pk=reply.pk).reasoning_seconds)
    assert await wait_until(lambda: Message.objects.get(pk=reply.pk).reasoning_seconds > saved_seconds)
    await in_thread(stop_reply, conversation=posted.message.conversation, reply_id=reply.pk)
    stopped = await ended(reply)
    assert (stopped.state, stopped.content, stopped.reasoning) == ("stopped", "", thoughts)
    assert stopped.reasoning_tokens == count_text("o200k_base")(thoughts)
    assert stopped.reasoning_seconds > saved_seconds


async def test_what_an_attempt_thought_before_it_broke_is_kept(worker, provider):
    reply = await reply_of(provider, "thinking-cut-times-1")
    assert (reply.state, reply.content) == ("complete", "Hello from the upstream.")
    assert reply.reasoning == "hm " * 20


async def test_each_version_has_its_own(worker, provider):
    first = await reply_of(provider, "reasoning")
    alice = await in_thread(lambda: Message.objects.select_related("conversation__owner").get(pk=first.pk))
    conversation = alice.conversation
    again = await in_thread(regenerate_reply, user=conversation.owner, conversation=conversation, reply_id=first.pk)
    second = await ended(again)
    reasonings = await in_thread(lambda: [Message.objects.get(pk=pk).reasoning for pk in (first.pk, second.pk)])
    assert (second.pk != first.pk, reasonings) == (True, ["They greet me."] * 2)
