"""A reply in a conversation as a program reads it: by the frames that pages get, by its row where one was missed."""

from __future__ import annotations

import asyncio

import pytest

from conversations.live.database_threads import in_thread
from conversations.models import Message
from conversations.runs.live_reply import LiveReply
from conversations.services.api import followed_reply
from conversations.services.api.api_keys import make_key
from conversations.services.api.ask_conversation import AskedReply
from conversations.services.api.event_queue import AnswerPiece
from conversations.services.api.followed_reply import FollowedReply
from tests.admin.stored import make_record
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def asked(settings):
    settings.RUN_WORKER, settings.PROCESSES = True, 1
    user = make_user("alice")
    conversation = begin(user)
    reply = post(conversation, "Hello").reply
    return AskedReply(make_key(user, name="a program").key, conversation, reply.pk, "demo")


@pytest.fixture
def reads(monkeypatch):
    """How often the row of the reply was read."""
    counted = []
    read = followed_reply.read_reply

    def count(asked):
        reading = read(asked)
        counted.append(reading)
        return reading

    monkeypatch.setattr(followed_reply, "read_reply", count)
    return counted


@pytest.fixture
async def followed(asked, reads):
    followed = FollowedReply(asked)
    followed.window_id = asked.conversation.public_id  # as soon as a request has left, it is known
    yield followed
    await followed.close()


def store(reply_id, **fields):
    return in_thread(Message.objects.filter(pk=reply_id).update)(**fields)


async def read_until(followed, text):
    """Read until all of *text* has come; return how it came."""
    pieces = []
    async with asyncio.timeout(PATIENCE_SECONDS):
        while "".join(pieces) != text:
            piece = await followed.next()
            assert isinstance(piece, AnswerPiece)
            pieces.append(piece.text)
            assert text.startswith("".join(pieces))
    return pieces


async def until(condition):
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


async def test_text_comes_by_frames_and_the_row_is_not_read_for_it(asked, followed, reads):
    live = LiveReply(asked.reply_id, asked.conversation.public_id, position=1)
    await until(lambda: reads)
    live.append("Once")
    await store(asked.reply_id, content="Once")
    assert await read_until(followed, "Once") == ["Once"]
    before = len(reads)
    for number in range(100):
        live.append(f" {number}")
        live.flush()
        await asyncio.sleep(0.005)
    await read_until(followed, "".join(f" {number}" for number in range(100)))
    assert len(reads) <= before + 1


async def test_what_was_missed_is_read_from_the_row(asked, followed, reads):
    live = LiveReply(asked.reply_id, asked.conversation.public_id, position=1)
    await until(lambda: reads)
    publish, live._publish = live._publish, lambda frame: None
    live.append("Once upon")
    live._publish = publish
    await store(asked.reply_id, content="Once upon a")
    live.append(" a")
    live.flush()
    await read_until(followed, "Once upon a")
    live.append(" time")
    live.flush()
    await read_until(followed, " time")


async def test_what_is_heard_follows_a_row_that_is_saved_later(asked, followed, reads):
    live = LiveReply(asked.reply_id, asked.conversation.public_id, position=1)
    await until(lambda: reads)
    await store(asked.reply_id, content="Once")
    for number in range(1_000):
        live.append("Once" if not number else f" {number}")
        live.flush()
        await asyncio.sleep(0.001)
    await read_until(followed, "Once" + "".join(f" {number}" for number in range(1, 1_000)))
    assert len(reads) < 5


async def test_steps_come_one_after_the_other(asked, followed, reads):
    live = LiveReply(asked.reply_id, asked.conversation.public_id, position=1)
    await until(lambda: reads)
    live.append("Let me see.")
    await store(asked.reply_id, content="Let me see.")
    await read_until(followed, "Let me see.")

    def begin_next():
        reply = Message.objects.get(pk=asked.reply_id)
        Message.objects.filter(pk=reply.pk).update(position=2, content="")
        Message.objects.create(
            conversation=asked.conversation, role="assistant", position=1, step_of=reply, content="Let me see.",
            content_tokens=4, encoding=reply.encoding, parent=reply.parent, state="complete",
        )  # fmt: skip

    await in_thread(begin_next)()
    live.begin_step(2, position=2, text="")
    live.record_window(make_record())
    live.append("A garden")
    await store(asked.reply_id, content="A garden")
    await read_until(followed, "\n\nA garden")
    before = len(reads)
    live.append(".")
    live.flush()
    await read_until(followed, ".")
    assert len(reads) <= before + 1


async def test_where_no_frames_are_heard_the_row_is_read_all_the_same(asked, followed, settings):
    settings.RUN_WORKER = False
    await store(asked.reply_id, content="Once")
    await read_until(followed, "Once")
    await store(asked.reply_id, content="Once upon")
    await read_until(followed, " upon")
