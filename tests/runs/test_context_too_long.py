"""A provider that finds the prompt too long is asked once more, with a smaller window."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from decimal import Decimal

import pytest
from django.db import connection, transaction

from conversations.models import Calibration, Completion, Conversation, Message
from conversations.services.replies.stop_reply import stop_reply
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import begin, make_user, post
from tests.support.upstream import count_prompt
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
TURNS, TURN_TOKENS = 30, 100


def ask_after_a_long_talk(content="And now?"):
    """Post *content* to a conversation of some 3,000 tokens, which the window of 4,096 just holds."""
    conversation = begin(make_user("alice"))
    for position in range(TURNS):
        conversation.head = Message.objects.create(
            conversation=conversation,
            parent=conversation.head,
            position=position,
            role=("user", "assistant")[position % 2],
            content=" word" * (TURN_TOKENS - 4),
            content_tokens=TURN_TOKENS - 4,
            encoding="o200k_base",
        )
    conversation.save()
    return post(conversation, content)


async def ended(reply):
    def reloaded():
        return Message.objects.filter(pk=reply.pk).exclude(state="streaming").first()

    return await wait_until(reloaded)


async def ask(content="And now?"):
    return await ended((await in_thread(ask_after_a_long_talk, content)).reply)


async def ledger():
    return await in_thread(lambda: list(Completion.objects.order_by("id")))


async def test_the_limit_that_the_provider_names_is_kept_and_the_reply_is_made(worker, provider, upstream):
    provider("context-limit-2048")
    reply = await ask()
    assert (reply.state, reply.content) == ("complete", "Hello from the upstream.")
    refused, sent = upstream.log()
    assert count_prompt(refused["body"]) > 2_048 > count_prompt(sent["body"]) + sent["body"]["max_tokens"]
    assert (await in_thread(Calibration.objects.get)).limit_tokens == 2_048


async def test_both_requests_are_in_the_ledger_each_with_its_own_window(worker, provider):
    provider("context-limit-2048")
    await ask()
    refused, sent = await ledger()
    assert [(row.attempt, row.error_code, row.cost_usd > 0) for row in (refused, sent)] == [
        (1, "context_too_long", False),
        (2, "", True),
    ]
    assert (refused.window["context_window_tokens"], sent.window["context_window_tokens"]) == (4_096, 2_048)
    assert refused.estimated_input_tokens > sent.estimated_input_tokens >= sent.input_tokens > 0


async def test_the_next_reply_fits_at_once(worker, provider, upstream):
    provider("context-limit-2048")
    await ask()
    conversation = await in_thread(lambda: Conversation.objects.select_related("owner", "scenario").get())
    await ended((await in_thread(post, conversation, "Next")).reply)
    assert [exchange["ended"] for exchange in upstream.log()[2:]] == ["complete"]
    assert [row.error_code for row in await ledger()] == ["context_too_long", "", ""]


async def test_the_window_slides_with_the_second_request(worker, provider):
    provider("context-limit-2048")
    await ask()
    _, sent = await ledger()
    conversation = await in_thread(Conversation.objects.get)
    assert conversation.anchor_position == sent.window["first_position"] > 0


async def test_a_provider_that_counts_higher_is_sent_less_by_its_own_numbers(worker, provider, upstream):
    provider("context-limit-4096-counts-130")
    assert (await ask()).state == "complete"
    refused, sent = await ledger()
    assert Decimal(sent.window["calibration"]) > Decimal("1.3")
    assert sent.window["context_window_tokens"] == refused.window["context_window_tokens"] == 4_096
    assert not await in_thread(Calibration.objects.exclude(limit_tokens=None).exists)


async def test_without_numbers_the_window_is_halved(worker, provider):
    provider("context-silent-3000")
    assert (await ask()).state == "complete"
    refused, sent = await ledger()
    assert sent.estimated_input_tokens <= refused.estimated_input_tokens / 2


async def test_without_numbers_it_is_halved_until_one_goes_through(worker, provider):
    provider("context-silent-1000")
    assert (await ask()).state == "complete"
    *refused, sent = await ledger()
    assert [row.error_code for row in refused] == ["context_too_long"] * 2
    assert sent.estimated_input_tokens <= refused[-1].estimated_input_tokens / 2


async def test_a_refusal_inside_the_stream_is_met_too(worker, provider, upstream):
    provider("context-stream-2048")
    assert (await ask()).content == "Hello from the upstream."
    assert len(upstream.log()) == 2


async def test_nothing_is_tried_again_once_text_has_come(worker, provider, upstream):
    provider("context-late-3")
    reply = await ask()
    assert (reply.state, reply.error_code, reply.content) == ("failed", "context_too_long", "word0 word1 word2")
    assert len(upstream.log()) == 1


async def test_it_is_tightened_once(worker, provider, upstream):
    provider("context-400")
    assert (await ask()).error_code == "context_too_long"
    assert [row.attempt for row in await ledger()] == [1, 2]


async def test_a_message_that_the_named_limit_cannot_hold_is_refused_by_how_much(worker, provider, upstream):
    provider("context-limit-2048")
    reply = await ask(" word" * 2_500)
    assert (reply.state, reply.error_code) == ("failed", "message_too_long")
    assert reply.error_params["tokens_over"].replace(",", "").isdigit()
    assert len(upstream.log()) == 1


async def test_no_one_is_told_a_number_that_was_guessed(worker, provider):
    provider("context-silent-2000")
    reply = await ask(" word" * 2_500)
    assert (reply.error_code, reply.error_params) == ("context_too_long", {})


async def test_a_stop_during_the_second_request_works(worker, provider, upstream):
    provider("context-hang-2048")
    posted = await in_thread(ask_after_a_long_talk)
    await wait_until(lambda: len(upstream.log()) == 2)
    await in_thread(stop_reply, conversation=posted.message.conversation, reply_id=posted.reply.pk)
    assert (await ended(posted.reply)).state == "stopped"
    assert upstream.wait_until_ended()["ended"] == "disconnected"
    assert [row.finish_reason for row in await ledger()] == ["", "stopped"]


@contextmanager
def nothing_can_be_learned():
    """Hold the row that a refusal is about to write its limit into."""
    held, release = threading.Event(), threading.Event()

    def hold():
        Calibration.objects.create(language_model="context-limit-2048")
        with transaction.atomic():
            Calibration.objects.select_for_update().get()
            held.set()
            release.wait(PATIENCE_SECONDS)
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(PATIENCE_SECONDS)
    try:
        yield
    finally:
        release.set()
        holder.join()


async def test_a_stop_while_the_smaller_window_is_chosen_works(worker, provider, upstream):
    provider("context-limit-2048")
    with nothing_can_be_learned():
        posted = await in_thread(ask_after_a_long_talk)
        await wait_until(lambda: Completion.objects.filter(error_code="context_too_long").exists())
        await in_thread(stop_reply, conversation=posted.message.conversation, reply_id=posted.reply.pk)
        assert (await ended(posted.reply)).state == "stopped"
    assert len(upstream.log()) == 1


async def ask_again(conversation_id, content):
    conversation = await in_thread(
        lambda: Conversation.objects.select_related("owner", "scenario").get(pk=conversation_id)
    )
    return await ended((await in_thread(post, conversation, content)).reply)


@pytest.mark.parametrize(
    ("limit", "context_window", "word_tokens"),
    [
        (1_500, 4_096, 250),
        (2_300, 4_096, 250),
        (3_000, 4_096, 250),
        (600, 8_192, 50),  # here the room for the reply is above the limit alone
        (1_500, 8_192, 100),  # and here
    ],
)
async def test_a_limit_without_a_number_is_found_by_a_few_replies_and_then_holds(
    worker, provider, upstream, settings, limit, context_window, word_tokens
):
    provider(f"context-silent-{limit}")
    settings.LANGUAGE_MODELS = settings.LANGUAGE_MODELS.replace("=4096", f"={context_window}")
    first = await ask()
    assert first.state == "complete"
    for number in range(12):  # windows grow until they overflow, so larger ones are tried
        assert (await ask_again(first.conversation_id, f"{number}" + " word" * word_tokens)).state == "complete"
    learned = await in_thread(Calibration.objects.get)
    assert limit * 0.7 < learned.limit_tokens <= limit < learned.refused_tokens
    before = len(upstream.log())
    for number in range(6):
        assert (await ask_again(first.conversation_id, f"{number}" + " more" * word_tokens)).state == "complete"
    assert len(upstream.log()) == before + 6, "a reply was refused first although the limit is known"


async def test_a_short_prompt_is_not_taken_for_the_limit(worker, provider):
    provider("context-silent-3000")
    await in_thread(lambda: Calibration.objects.create(language_model="context-silent-3000", refused_tokens=3_500))
    await ended((await in_thread(lambda: post(begin(make_user("bob")), "Hello"))).reply)
    assert (await in_thread(Calibration.objects.get)).limit_tokens is None
