from __future__ import annotations

import json
import uuid
from contextlib import contextmanager

import pytest
from django.db import connection

from chatsite.accounts.models import Session
from conversations.core.frames.definitions import FROM_PAGE, ConversationSync
from conversations.models import Message, ToolCall
from conversations.runs.claim import claim_runs
from conversations.runs.worker import Worker
from conversations.services.messages.switch_version import switch_version
from conversations.services.replies import wait_for_stop
from conversations.services.replies.end_reply import STOPPED, end_reply
from conversations.services.replies.stop_reply import stop_reply
from conversations.sockets.consumers import PageConsumer
from conversations.sockets.send_buffer import SEND_NOW, SendBuffer
from conversations.sockets.subscriptions import Subscriptions
from tests.support.awaiting_approval import make_call_awaiting_approval
from tests.support.people import begin, make_user, post
from tests.support.sockets import Page, handshake, sign_in
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
FINAL = ("reply.done", "reply.failed")
SLOW = 4  # tokens a second: counting to 500 takes longer than any test has patience


@pytest.fixture
async def worker(settings, transactional_db):
    settings.DEMO_TOKENS_PER_SECOND = 0
    worker = Worker()
    await worker.start()
    yield worker
    await worker.drain(timeout_seconds=0)


@pytest.fixture
async def alice(transactional_db):
    return await in_thread(make_user, "alice")


@pytest.fixture
async def conversation(alice):
    return await in_thread(begin, alice)


@pytest.fixture
async def page(alice):
    page = await Page.open(alice)
    yield page
    await page.communicator.disconnect()


async def say(page, conversation, content="Hello", **fields):
    fields = {"conversation": conversation.public_id, "client_id": uuid.uuid4(), "content": content} | fields
    await page.send("message.post", **fields)


def applied(frames, reply, kind="reply.delta"):
    """Apply deltas by their offsets, as a page does, and return the text."""
    text = ""
    for frame in frames:
        if frame["type"] == kind and frame["reply"] == reply:
            assert frame["at"] <= len(text), "a gap"
            text = text[: frame["at"]] + frame["text"] + text[frame["at"] + len(frame["text"]) :]
    return text


async def test_a_message_is_stored_answered_and_ended(worker, page, conversation):
    await say(page, conversation, "My name is Andrew")
    stored = await page.receive("message.stored")
    done = await page.receive(*FINAL)
    reply = await in_thread(Message.objects.get, pk=stored["reply"])
    assert (done["type"], done["state"], done["length"]) == ("reply.done", "complete", len(reply.content))
    assert applied(page.frames, stored["reply"]) == reply.content
    kinds = [frame["type"] for frame in page.frames]
    assert kinds.count("message.stored") == 1
    kinds.remove("message.stored")  # of the web process: what the worker says may be there before it
    assert kinds[:3] == ["reply.started", "conversation.writing", "window.recorded"]


async def test_thinking_comes_before_the_text_with_offsets_of_its_own(worker, page, conversation):
    await say(page, conversation, "Please think about my holidays.")
    stored = await page.receive("message.stored")
    done = await page.receive(*FINAL)
    reply = await in_thread(Message.objects.get, pk=stored["reply"])
    assert applied(page.frames, reply.pk, "reply.reasoning") == reply.reasoning
    assert reply.reasoning.startswith("I am to think about this")
    assert applied(page.frames, reply.pk) == reply.content
    assert (done["reasoning_seconds"], done["reasoning_tokens"]) == (1, reply.reasoning_tokens)
    kinds = [frame["type"] for frame in page.frames if frame["type"] in ("reply.reasoning", "reply.delta")]
    assert kinds == sorted(kinds, reverse=True)


async def test_a_reply_that_did_not_think_says_so_at_its_end(worker, page, conversation):
    await say(page, conversation)
    done = await page.receive(*FINAL)
    assert (done["reasoning_seconds"], done["reasoning_tokens"]) == (0, 0)


async def test_a_second_page_sees_the_same(worker, page, alice, conversation):
    other = await Page.open(alice)
    await other.send("conversation.sync", conversation=conversation.public_id, from_position=0)
    await other.receive("conversation.snapshot")
    await say(page, conversation)
    stored = await page.receive("message.stored")
    await page.receive(*FINAL)
    await other.receive(*FINAL)
    assert applied(other.frames, stored["reply"]) == applied(page.frames, stored["reply"]) != ""
    await other.communicator.disconnect()


async def test_the_snapshot_is_the_stored_truth(worker, page, conversation):
    await say(page, conversation, "**Hello**")
    await page.receive(*FINAL)
    await page.send("conversation.sync", conversation=conversation.public_id, from_position=0)
    snapshot = await page.receive("conversation.snapshot")
    assert [message["role"] for message in snapshot["messages"]] == ["user", "assistant"]
    assert "<strong>Hello</strong>" in snapshot["messages"][0]["html"]
    assert snapshot["window"]["prompt_tokens"] > 0


@pytest.mark.parametrize("hears", [True, False])
async def test_a_page_is_told_that_it_does_not_hear_other_processes(page, conversation, monkeypatch, hears):
    monkeypatch.setattr(Subscriptions, "hears_elsewhere", hears)
    await page.send("conversation.sync", conversation=conversation.public_id, from_position=0)
    assert (await page.receive("conversation.snapshot"))["live"] == hears


async def test_stop_ends_the_reply(worker, page, conversation, settings):
    settings.DEMO_TOKENS_PER_SECOND = SLOW
    await say(page, conversation, "Count to 500")
    stored = await page.receive("message.stored")
    await page.receive("reply.delta")
    await page.send("reply.stop", conversation=conversation.public_id, reply=stored["reply"])
    assert (await page.receive(*FINAL))["state"] == "stopped"


async def ask_worker_to_stop(conversation):
    """Return a reply that a worker makes, which has been asked to stop and has not yet."""
    reply = (await in_thread(post, conversation, "Count to 500")).reply
    await in_thread(claim_runs, "a worker", limit=1)
    await in_thread(stop_reply, conversation=conversation, reply_id=reply.pk)
    return reply


async def test_what_is_sent_while_a_reply_stops_is_done_once_it_has_ended(page, conversation):
    reply = await ask_worker_to_stop(conversation)
    await page.send("reply.regenerate", conversation=conversation.public_id, reply=reply.pk)
    await say(page, conversation, "another")  # a second one does not wait
    assert (await page.receive("error"))["code"] == "reply_in_progress"
    await page.send("conversation.sync", conversation=conversation.public_id, from_position=0)
    assert await page.receive("conversation.snapshot")  # what waits keeps no other frame waiting
    await in_thread(end_reply, reply.pk, STOPPED)
    await wait_until(lambda: Message.objects.filter(role="assistant").count() == 2)


async def test_a_reply_that_does_not_stop_in_time_is_in_progress(page, conversation, monkeypatch):
    monkeypatch.setattr(wait_for_stop, "LONGEST_WAIT_SECONDS", 0.1)
    reply = await ask_worker_to_stop(conversation)
    await page.send("reply.regenerate", conversation=conversation.public_id, reply=reply.pk)
    assert (await page.receive("error"))["code"] == "reply_in_progress"


async def test_a_decision_reaches_every_page(page, alice):
    call = await in_thread(make_call_awaiting_approval, alice, {"note": "Buy milk"})
    about = {"conversation": call.reply.conversation.public_id, "call": call.pk}
    other = await Page.open(alice)
    await other.send("conversation.sync", conversation=about["conversation"], from_position=0)
    await other.receive("conversation.snapshot")
    await page.send("call.decide", **about, digest="another", allowed=True)
    assert (await page.receive("error"))["code"] == "call_not_awaiting_approval"
    await page.send("call.decide", **about, digest=call.digest, allowed=False)
    heard = await other.receive("reply.step")
    assert (heard["reply"], heard["step"]) == (call.reply_id, 1)
    assert (await in_thread(ToolCall.objects.get, pk=call.pk)).state == "refused"
    await other.communicator.disconnect()


async def test_a_reply_can_be_made_again(worker, page, conversation):
    await say(page, conversation)
    first = await page.receive("message.stored")
    await page.receive(*FINAL)
    await page.send("reply.regenerate", conversation=conversation.public_id, reply=first["reply"])
    started = await page.receive("reply.started")
    assert (await page.receive(*FINAL))["reply"] == started["reply"] != first["reply"]


async def test_an_edited_message_is_answered_again(worker, page, conversation):
    await say(page, conversation, "one")
    first = await page.receive("message.stored")
    await page.receive(*FINAL)
    edit = {"conversation": conversation.public_id, "message": first["message"], "content": "1"}
    edit["client_id"] = uuid.uuid4()
    await page.send("message.edit", **edit)
    stored = await page.receive("message.stored")
    assert (stored["position"], stored["message"] != first["message"]) == (first["position"], True)
    assert (await page.receive(*FINAL))["reply"] == stored["reply"]
    await page.send("message.edit", **edit)
    assert await page.receive("message.stored") == stored


async def test_the_pages_are_told_that_another_version_is_shown(worker, page, conversation):
    await say(page, conversation)
    first = await page.receive("message.stored")
    await page.receive(*FINAL)
    await page.send("reply.regenerate", conversation=conversation.public_id, reply=first["reply"])
    await page.receive(*FINAL)
    await in_thread(switch_version, conversation=conversation, message_id=first["reply"])
    shown = await page.receive("message.shown")
    assert (shown["message"], shown["position"]) == (first["reply"], 1)


async def test_what_is_refused_names_the_message(page, conversation):
    client_id = uuid.uuid4()
    await say(page, conversation, " ", client_id=client_id)
    error = await page.receive("error")
    assert (error["code"], error["client_id"]) == ("message_empty", str(client_id))


@contextmanager
def full_disk():
    """Let the database refuse to store messages, as one does whose disk is full."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse_for_disk_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "RAISE EXCEPTION 'No space left on device' USING ERRCODE = 'disk_full'; END $$; CREATE TRIGGER full_disk "
            "BEFORE INSERT ON conversations_message FOR EACH ROW EXECUTE FUNCTION refuse_for_disk_full()"
        )
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION refuse_for_disk_full CASCADE")


async def test_a_message_that_the_database_can_t_store_is_refused_with_the_reason(page, conversation):
    refusing = full_disk()
    await in_thread(refusing.__enter__)
    try:
        await say(page, conversation, "Hello")
        error = await page.receive("error")
    finally:
        await in_thread(refusing.__exit__, None, None, None)
    assert (error["code"], "database" in error["message"]) == ("unavailable", True)
    await say(page, conversation, "Hello again")
    assert await page.receive("message.stored")


async def test_two_sends_at_once_are_one_stored_and_one_refused(page, conversation):
    await say(page, conversation, "one")
    await say(page, conversation, "two")
    assert await page.receive("message.stored")
    assert (await page.receive("error"))["code"] == "reply_in_progress"


async def test_the_same_client_id_is_answered_again_without_a_second_message(page, conversation):
    client_id = uuid.uuid4()
    for _ in range(2):
        await say(page, conversation, client_id=client_id)
    first, second = await page.receive("message.stored"), await page.receive("message.stored")
    assert first == second
    assert await in_thread(Message.objects.count) == 2


@pytest.mark.parametrize(
    "text",
    [
        "not JSON",
        "[]",
        "7",
        "{}",
        '{"type": "reply.explode"}',
        '{"type": "message.post"}',
        '{"type": "reply.stop", "conversation": 7, "reply": true}',
        "[" * 100_000,
        json.dumps({"type": "message.post", "content": "x" * 200_000}),
    ],
)
async def test_a_bad_frame_gets_an_error_and_the_socket_stays(page, conversation, text):
    await page.communicator.send_to(text_data=text)
    assert (await page.receive("error"))["code"] == "frame_invalid"
    await page.send("conversation.sync", conversation=conversation.public_id, from_position=0)
    await page.receive("conversation.snapshot")


async def test_binary_is_not_a_frame(page):
    await page.communicator.send_to(bytes_data=b"\x00\xff")
    assert (await page.receive("error"))["code"] == "frame_invalid"


@pytest.mark.parametrize("verb", FROM_PAGE)
async def test_another_users_conversation_is_not_found(page, verb):
    charlie = await in_thread(make_user, "charlie")
    posted = await in_thread(lambda: post(begin(charlie), "secret"))
    fields = {
        "message.post": {"client_id": uuid.uuid4(), "content": "Hello"},
        "message.edit": {"message": posted.message.pk, "client_id": uuid.uuid4(), "content": "Hello"},
        "reply.stop": {"reply": posted.reply.pk},
        "reply.regenerate": {"reply": posted.reply.pk},
        "reply.regenerate_with": {"reply": posted.reply.pk, "language_model": ""},
        "reply.continue": {"reply": posted.reply.pk, "length": 1},
        "model.choose": {"language_model": "", "effort": ""},
        "call.decide": {"call": 1, "digest": "", "allowed": True},
        "conversation.sync": {"from_position": 0},
    }[verb]
    await page.send(verb, conversation=posted.message.conversation.public_id, **fields)
    assert (await page.receive("error", "message.stored", "conversation.snapshot"))["code"] == "conversation_not_found"
    assert (await in_thread(Message.objects.get, pk=posted.reply.pk)).state == "streaming"
    assert len(page.frames) == 1


async def test_a_refused_conversation_is_not_followed(page, worker, conversation, settings):
    settings.DEMO_TOKENS_PER_SECOND = 0
    charlie = await in_thread(make_user, "charlie")
    theirs = await in_thread(begin, charlie)
    await say(page, theirs, "let me in")
    await page.receive("error")
    other = await Page.open(charlie)
    await say(other, theirs, "secret")
    await other.receive(*FINAL)
    await page.send("conversation.sync", conversation=conversation.public_id, from_position=0)
    await page.receive("conversation.snapshot")
    assert [frame["type"] for frame in page.frames] == ["error", "conversation.snapshot"]
    await other.communicator.disconnect()


async def test_signing_out_closes_the_socket_at_the_next_frame(page, conversation):
    await in_thread(Session.objects.all().delete)
    await say(page, conversation)
    assert await page.close_code() == 4401
    assert not await in_thread(Message.objects.exists)


async def test_frames_that_came_together_close_the_socket_once(page, conversation):
    """A server raises at what is sent after the closing frame, and what the page held would be held for ever."""
    await in_thread(Session.objects.all().delete)
    for _ in range(2):
        await say(page, conversation)
    assert await page.close_code() == 4401
    await page.communicator.disconnect()  # after the frames, which are handled in their order
    assert page.communicator.output_queue.empty()


async def test_a_deactivated_person_gets_no_more_deltas(worker, page, alice, conversation, settings):
    settings.DEMO_TOKENS_PER_SECOND = SLOW
    await say(page, conversation, "Count to 500")
    await page.receive("reply.delta")
    alice.is_active = False
    await in_thread(alice.save)
    assert await page.close_code() == 4401


async def test_signing_out_closes_a_socket_on_which_nothing_happens(page):
    await in_thread(Session.objects.all().delete)
    assert await page.close_code() == 4401


async def test_signing_out_leaves_the_sockets_of_others_open(page):
    mine = await in_thread(Session.objects.get)
    other = await Page.open(await in_thread(make_user, "bob"))
    await in_thread(mine.delete)
    assert await page.close_code() == 4401
    await other.send("conversation.sync", conversation=uuid.uuid4(), from_position=0)
    assert (await other.receive("error"))["code"] == "conversation_not_found"
    await other.communicator.disconnect()


@pytest.mark.parametrize(
    "origin", [None, "null", "https://elsewhere.example", "http://127.0.0.1.elsewhere.example", "http://127.0.0.1:1"]
)
async def test_a_foreign_origin_is_refused(alice, origin):
    socket = handshake(await in_thread(sign_in, alice), origin)
    assert (await socket.connect())[0] is False


def fail_to_send(text):
    raise ValueError(f"can't send {text}")


async def test_a_page_that_cannot_be_sent_to_is_closed_and_the_reply_goes_on(
    worker, page, alice, conversation, caplog, settings
):
    broken = handshake(await in_thread(sign_in, alice), settings.SITE_URL)
    broken.scope["extensions"] = {SEND_NOW: fail_to_send}
    assert (await broken.connect())[0]
    await say(page, conversation)
    assert (await page.receive(*FINAL))["state"] == "complete"
    assert await Page(broken).close_code() == 1013
    [failure] = [record for record in caplog.records if record.exc_info]
    assert "can't send" in str(failure.exc_info[1])
    await broken.disconnect()


@pytest.mark.parametrize("session_key", [None, "", "forged"])
async def test_without_a_session_the_handshake_is_refused(transactional_db, settings, session_key):
    assert (await handshake(session_key, settings.SITE_URL).connect())[0] is False


async def test_no_snapshot_is_made_for_a_page_that_has_gone(conversation):
    consumer = PageConsumer()
    consumer.subscriptions = None  # it follows nothing, either
    consumer.buffer = SendBuffer(send=consumer._send_text, close=consumer._close_given_up_page)
    consumer.buffer.stop()
    await consumer._send_snapshot(conversation, ConversationSync(conversation.public_id, from_position=0))
