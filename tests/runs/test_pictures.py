"""Replies to messages with pictures: what leaves, what is shown of it later, and models that see nothing."""

from __future__ import annotations

import hashlib
from functools import partial

import pytest

from conversations.models import Completion, Message, ScaledPicture
from conversations.runs.worker import Worker
from conversations.selectors.conversations.sent_request import sent_request
from conversations.services.documents.storage_limit import kept_bytes
from conversations.services.replies.regenerate_reply import regenerate_reply
from tests.parsing.pictures import decoded, encoded, photo
from tests.support.people import begin, make_user, post
from tests.support.pictures import store_picture
from tests.support.sent_pictures import picture_contents, picture_digests, text_of
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
CAT = b"the bytes of a cat"
CAT_DIGEST = hashlib.sha256(CAT).hexdigest()


@pytest.fixture(params=["chat", "responses"])
def wire(request):
    return request.param


@pytest.fixture
def see(settings, provider, wire):
    """Return a function that configures the fake provider with a model of so many tokens, and what it says of it."""

    def use(words: str) -> None:
        provider("ok")
        settings.MESSAGES_PER_MINUTE = 0
        settings.LANGUAGE_MODELS = f"{words} wire={wire} encoding=o200k_base input_usd=1 output_usd=2"

    return use


def ask_about_a_cat(conversation):
    """Post a message with a picture, before there is a worker."""
    posted = post(conversation, "What is this?")
    picture = store_picture(conversation, CAT)
    Message.objects.filter(pk=posted.message.pk).update(picture_ids=[picture.pk])
    return posted


async def make_replies(*replies):
    """Let a worker make the replies, and return how each ended."""
    worker = Worker()
    await worker.start()
    try:
        return [await wait_until(lambda reply=reply: _ended(reply)) for reply in replies]
    finally:
        await worker.drain(timeout_seconds=0)


def _ended(reply):
    return Message.objects.filter(pk=reply.pk).exclude(state="streaming").first()


async def asked(conversation):
    posted = await in_thread(ask_about_a_cat, conversation)
    (reply,) = await make_replies(posted.reply)
    assert (reply.state, reply.error_code) == ("complete", "")


async def ask_more(conversation, content):
    posted = await in_thread(post, conversation, content)
    (reply,) = await make_replies(posted.reply)
    assert (reply.state, reply.error_code) == ("complete", "")


async def conversation_of_alice():
    return await in_thread(lambda: begin(make_user("alice")))


def newest_completion():
    return Completion.objects.order_by("-id").first()


async def test_the_bytes_leave_and_only_their_digest_is_kept(see, upstream, wire):
    see("ok context_window=4096 picture_tokens=300")
    await asked(await conversation_of_alice())
    sent = upstream.log()[-1]["body"]
    completion = await in_thread(newest_completion)
    shown = await in_thread(sent_request, completion)

    assert picture_digests(sent) == [CAT_DIGEST]
    assert text_of(sent["messages"][-1]["content"]) == "What is this?"
    assert shown.is_exact
    part = shown.body["messages" if wire == "chat" else "input"][-1]["content"][1]["image_url"]
    assert (part["url"] if wire == "chat" else part) == f"picture:image/png;{CAT_DIGEST}"
    assert completion.window["entries"][-1]["picture_tokens"] == 300
    assert completion.estimated_input_tokens == completion.window["prompt_tokens"] > 300


def ask_about_a_photo(conversation, content="What is this?"):
    posted = post(conversation, content)
    file = encoded(photo(2_000, 1_500), "JPEG")
    picture = store_picture(conversation, file, media_type="image/jpeg", width=2_000, height=1_500)
    Message.objects.filter(pk=posted.message.pk).update(picture_ids=[picture.pk])
    return posted


def sizes_of(body):
    return [decoded(content).size for content in picture_contents(body)]


async def test_a_picture_over_the_window_leaves_scaled_down_as_the_record_says(see, upstream):
    see("ok context_window=3000 reply_reserve=500 vision=yes")
    posted = await in_thread(ask_about_a_photo, await conversation_of_alice())
    (reply,) = await make_replies(posted.reply)
    sent = upstream.log()[-1]["body"]
    completion = await in_thread(newest_completion)
    shown = await in_thread(sent_request, completion)
    entry = completion.window["entries"][-1]

    assert (reply.state, reply.error_code) == ("complete", "")
    assert sizes_of(sent) == [tuple(size) for size in entry["scaled_to"]]
    assert entry["scaled_to"][0][0] < 2_000
    assert shown.is_exact
    assert [picture.digest for picture in shown.prompt[-1].pictures] == picture_digests(sent)


async def test_a_picture_is_scaled_to_a_size_once_and_kept(see, upstream):
    see("ok context_window=3000 reply_reserve=500 vision=yes")
    conversation = await conversation_of_alice()
    posted = await in_thread(ask_about_a_photo, conversation)
    await make_replies(posted.reply)
    first = await in_thread(list, ScaledPicture.objects.all())
    again = partial(regenerate_reply, user=conversation.owner, conversation=conversation, reply_id=posted.reply.pk)
    await make_replies(await in_thread(again))
    kept = await in_thread(list, ScaledPicture.objects.all())

    assert len(first) == 1
    assert kept == first
    assert picture_digests(upstream.log()[-1]["body"]) == [first[0].digest]
    assert await in_thread(kept_bytes, conversation.owner) > first[0].size_bytes


async def test_a_later_question_is_asked_with_the_picture_at_half_of_the_prompt(see, upstream):
    see("ok context_window=3000 reply_reserve=500 vision=yes")
    conversation = await conversation_of_alice()
    posted = await in_thread(ask_about_a_photo, conversation)
    await make_replies(posted.reply)
    await ask_more(conversation, "And what colour?")
    entry = (await in_thread(newest_completion)).window["entries"][0]

    assert sizes_of(upstream.log()[-1]["body"]) == [tuple(size) for size in entry["scaled_to"]]
    assert entry["picture_tokens"] <= 1_250
    assert (await in_thread(sent_request, await in_thread(newest_completion))).is_exact


async def test_a_picture_that_cannot_be_scaled_ends_the_reply_with_a_reason(see, upstream):
    see("ok context_window=3000 reply_reserve=500 vision=yes")
    posted = await in_thread(post, await conversation_of_alice(), "What is this?")
    picture = await in_thread(store_picture, posted.message.conversation, b"no picture", width=2_000, height=1_500)
    await in_thread(Message.objects.filter(pk=posted.message.pk).update, picture_ids=[picture.pk])
    (reply,) = await make_replies(posted.reply)

    assert (reply.state, reply.error_code) == ("failed", "picture_kind_unknown")
    assert upstream.log() == []


async def test_a_picture_goes_with_its_message_and_leaves_with_it(see, upstream):
    see("ok context_window=500 reply_reserve=50 picture_tokens=100")
    conversation = await conversation_of_alice()
    await asked(conversation)
    await ask_more(conversation, "And what colour?")
    later = upstream.log()[-1]["body"]
    await ask_more(conversation, "word " * 400)
    after = upstream.log()[-1]["body"]

    assert picture_digests(later) == [CAT_DIGEST]
    assert picture_digests(after) == []
    assert (await in_thread(sent_request, await in_thread(newest_completion))).is_exact


async def test_a_model_that_sees_nothing_is_told_of_the_picture_and_never_sent_it(see, upstream):
    see("blind context_window=4096")
    conversation = await conversation_of_alice()
    await asked(conversation)
    first = upstream.log()[-1]["body"]["messages"]
    await ask_more(conversation, "And now?")

    assert first[-1]["content"] == "What is this?\n[Picture: cat.png, not shown to this model]"
    assert upstream.log()[-1]["body"]["messages"][0] == first[-1]
    assert (await in_thread(sent_request, await in_thread(newest_completion))).is_exact


async def test_a_picture_that_was_sent_only_with_its_question_is_a_line_later(see, upstream):
    see("ok context_window=4096 picture_tokens=300")
    conversation = await conversation_of_alice()
    conversation.scenario.pictures_only_with_question = True
    await in_thread(conversation.scenario.save)
    await asked(conversation)
    first = upstream.log()[-1]["body"]
    await ask_more(conversation, "And now?")
    second = upstream.log()[-1]["body"]

    assert picture_digests(first) == [CAT_DIGEST]
    assert second["messages"][0]["content"] == "What is this?\n[Picture: cat.png, shown with its question]"
    assert (await in_thread(sent_request, await in_thread(newest_completion))).is_exact
