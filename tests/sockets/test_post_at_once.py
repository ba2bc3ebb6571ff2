"""Messages of pages that follow their conversation, which are stored in one call: as others are, and refused as others.

Every refusal is compared with that of a page that does not follow yet, whose message is stored step by step.
"""

from __future__ import annotations

import datetime as dt
import uuid

import pytest
from asgiref.sync import async_to_sync
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from psycopg.errors import AdminShutdown

from chatsite.accounts.models import Session, User
from conversations.live import revocation_watcher
from conversations.live.session_watcher import session_watcher
from conversations.models import Conversation, Message
from conversations.services.messages.post_message import post_message_of_session
from conversations.sockets import consumers
from tests.accounts.gates import enter, shut_gate
from tests.support.people import begin, make_user
from tests.support.sockets import Page
from tests.support.waiting import in_thread

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def alice(transactional_db, monkeypatch):
    monkeypatch.setattr(revocation_watcher, "CHECK_SECONDS", 3600)  # sockets are checked when a test says so
    return await in_thread(make_user, "alice")


@pytest.fixture
async def conversation(alice):
    return await in_thread(begin, alice)


@pytest.fixture
async def page(alice, conversation):
    """A page that follows the conversation, and whose session was found valid."""
    page = await Page.open(alice)
    await follow(page, conversation)
    await session_watcher()._check()
    yield page
    await page.communicator.disconnect()


@pytest.fixture
def steps(monkeypatch):
    """The conversations that were looked for step by step."""
    asked = []
    find = consumers._find_conversation
    monkeypatch.setattr(consumers, "_find_conversation", lambda *about: asked.append(about[1]) or find(*about))
    return asked


async def follow(page, conversation):
    await page.send("conversation.sync", conversation=conversation.public_id, from_position=0)
    await page.receive("conversation.snapshot")


async def say(page, conversation, **fields):
    fields = {"client_id": uuid.uuid4(), "content": "Hello"} | fields
    await page.send("message.post", conversation=conversation.public_id, **fields)


async def test_it_is_stored_at_once(page, conversation, steps):
    await say(page, conversation)
    stored = await page.receive("message.stored", "error")
    message = await in_thread(Message.objects.get, pk=stored["message"])
    assert (message.content, message.conversation_id, stored["position"], steps) == ("Hello", conversation.pk, 0, [])


async def test_one_that_is_sent_again_is_acknowledged_again(page, conversation, steps):
    client_id = uuid.uuid4()
    await say(page, conversation, client_id=client_id)
    first = await page.receive("message.stored")
    await say(page, conversation, client_id=client_id)
    assert await page.receive("message.stored") == first
    assert (await in_thread(Message.objects.filter(role="user").count), steps) == (1, [])


async def test_a_page_that_does_not_follow_goes_step_by_step(page, alice, conversation, steps):
    other = await in_thread(begin, alice)
    await say(page, other)
    await page.receive("message.stored")
    assert steps == [other.public_id]


async def test_a_session_that_was_not_checked_yet_goes_step_by_step(alice, conversation, steps):
    page = await Page.open(alice)
    await follow(page, conversation)
    steps.clear()
    await say(page, conversation)
    await page.receive("message.stored")
    assert steps == [conversation.public_id]
    await page.communicator.disconnect()


async def test_one_that_meets_a_lost_connection_is_stored_step_by_step(page, conversation, steps, monkeypatch):
    def lose_connection(**_):
        raise OperationalError("terminating connection") from AdminShutdown("terminating connection")

    monkeypatch.setattr(consumers, "post_message_of_session", lose_connection)
    await say(page, conversation)
    await page.receive("message.stored")
    assert steps == [conversation.public_id]


def sign_out():
    Session.objects.all().delete()


def let_session_end():
    Session.objects.update(expire_date=timezone.now() - dt.timedelta(seconds=1))


def change_password():
    alice = User.objects.get()
    alice.set_password("another one, and long enough")
    alice.save()


def block():
    User.objects.update(gate_rule="blocked")


def deactivate():
    User.objects.update(is_active=False)


def fill_seats():
    shut_gate(seats=0)
    enter(User.objects.get())


def delete_conversation():
    Conversation.objects.update(deleted_at=timezone.now())


def give_conversation_away():
    Conversation.objects.update(owner=make_user("bob"))


def let_temporary_end():
    Conversation.objects.update(temporary_until=timezone.now() - dt.timedelta(seconds=1))


@pytest.mark.parametrize(
    ("lose", "answer"),
    [
        (sign_out, 4401),
        (let_session_end, 4401),
        (change_password, 4401),
        (block, 4403),
        (shut_gate, 4403),
        (fill_seats, 4403),
        (deactivate, 4401),
        (delete_conversation, "conversation_not_found"),
        (give_conversation_away, "conversation_not_found"),
        (let_temporary_end, "conversation_not_found"),
    ],
)
async def test_what_was_lost_since_the_last_check_is_refused_as_step_by_step(page, alice, conversation, lose, answer):
    other = await Page.open(alice)  # which follows nothing
    await in_thread(lose)
    for asking in (page, other):
        await say(asking, conversation)
        if isinstance(answer, int):
            assert await asking.close_code() == answer
        else:
            assert (await asking.receive("error", "message.stored"))["code"] == answer
    assert not await in_thread(Message.objects.exists)
    await other.communicator.disconnect()


async def test_a_seat_that_is_free_again_is_given(page, conversation):
    def shut_and_free_a_seat():
        fill_seats()
        shut_gate(seats=1)
        enter(User.objects.get())

    await in_thread(shut_and_free_a_seat)
    await say(page, conversation)
    assert await page.receive("message.stored")


def test_session_admission_and_conversation_are_asked_for_once(transactional_db):
    conversation = begin(make_user("alice"))
    fingerprint = async_to_sync(_fingerprint_of_open_page)(conversation.owner)
    asked = {"conversation": conversation.public_id, "content": "Hello", "client_id": uuid.uuid4()}
    session = {"session_key": Session.objects.get().session_key, "fingerprint": fingerprint}
    with CaptureQueriesContext(connection) as queries:
        assert post_message_of_session(**session, **asked).created
    for asked_for in ("accounts_session", "accounts_gateentry", 'FROM "conversations_conversation"'):
        assert sum(asked_for in query["sql"] for query in queries) == 1, asked_for


async def _fingerprint_of_open_page(user):
    page = await Page.open(user)
    await session_watcher()._check()
    [session_key] = session_watcher()._watched.values()
    fingerprint = session_watcher().fingerprint_of(session_key)
    await page.communicator.disconnect()
    return fingerprint
