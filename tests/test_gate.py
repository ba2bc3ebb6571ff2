"""What the gate means to conversations: pages, the same as data, sockets and replies that are being made."""

from __future__ import annotations

import uuid

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from chatsite.accounts.models import User
from chatsite.accounts.sessions.session_store import ValidSessions
from conversations.core.errors import (
    AccountBlocked,
    GateClosed,
    GatePasswordRequired,
    ReplyAccessRevoked,
    SeatsTaken,
    SignInRequired,
)
from conversations.core.errors.stored_errors import sentence_for
from conversations.live import revocation_watcher, session_watcher
from conversations.models import Completion, Message, Run
from conversations.runs.claim import claim_runs
from conversations.runs.worker import Worker
from conversations.services.portability.chat_history import ChatHistory
from conversations.services.replies.regenerate_reply import regenerate_reply
from tests.accounts.gates import enter, rotate, shut_gate
from tests.support.people import begin, make_user, post
from tests.support.sockets import Page, handshake, sign_in
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def alice():
    return User.objects.get(email="alice@example.org")


def close_gate():
    shut_gate()


def block():
    User.objects.update(gate_rule="blocked")


def fill_seats():
    shut_gate(seats=0)
    enter(alice())


def deactivate():
    User.objects.update(is_active=False)


def delete():
    alice().delete()


WAYS_TO_SHUT = [
    pytest.param(close_gate, GatePasswordRequired, id="the gate is shut"),
    pytest.param(block, AccountBlocked, id="the person is blocked"),
    pytest.param(fill_seats, SeatsTaken, id="all seats are taken"),
]
EVERY_WAY = [
    *WAYS_TO_SHUT,
    pytest.param(deactivate, SignInRequired, id="the account is deactivated"),
    pytest.param(delete, SignInRequired, id="the account is deleted"),
]


@pytest.fixture
def browser(transactional_db):
    browser = Client()
    browser.force_login(make_user("alice"))
    return browser


@pytest.fixture
def conversation(browser):
    return begin(alice())


@pytest.fixture
async def page(conversation):
    page = await Page.open(await in_thread(alice))
    yield page
    await page.communicator.disconnect()


@pytest.fixture
async def worker(transactional_db, settings):
    settings.DEMO_TOKENS_PER_SECOND = 4  # no reply ends by itself while there is patience
    worker = Worker()
    await worker.start()
    yield worker
    await worker.drain(timeout_seconds=0)


# Pages and the same as data


@pytest.mark.parametrize(("shut", "error"), WAYS_TO_SHUT)
def test_a_page_leads_to_the_gate_and_back(browser, conversation, shut, error):
    shut()
    path = reverse("conversations:conversation", args=[conversation.public_id])
    assert browser.get(path).url == f"/gate/?next={path}"


@pytest.mark.parametrize(("shut", "error"), WAYS_TO_SHUT)
def test_a_script_is_told_why_and_to_lead_to_the_gate(browser, conversation, shut, error):
    shut()
    path = reverse("conversations:sync", args=[conversation.public_id])
    answer = browser.get(path, headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json()["code"], answer.json()["door"]) == (403, error.code, "gate")


def test_a_script_that_is_refused_anything_else_is_led_nowhere(browser):
    path = reverse("conversations:sync", args=[uuid.uuid4()])
    answer = browser.get(path, headers={"Accept": "application/json"})
    assert (answer.status_code, "door" in answer.json()) == (404, False)


def test_a_part_of_a_page_leads_the_whole_page_there(browser, conversation):
    shut_gate()
    shown = f"/c/{conversation.public_id}/"
    headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{shown}"}
    answer = browser.get(reverse("conversations:list"), headers=headers)
    assert answer["HX-Redirect"] == f"/gate/?next={shown}"


def test_what_was_posted_leads_back_to_its_page(browser, conversation):
    shut_gate()
    answer = browser.post(
        f"/c/{conversation.public_id}/messages/post/", {"content": "Hello", "client_id": uuid.uuid4()}
    )
    assert answer.url == f"/gate/?next=/c/{conversation.public_id}/"
    assert not Message.objects.exists()


@pytest.mark.parametrize(("shut", "error"), EVERY_WAY)
def test_nothing_is_posted_made_again_or_imported(conversation, shut, error):
    person, reply = alice(), post(conversation, "Hello").reply
    shut()
    with pytest.raises(error):
        post(conversation, "Hello again")
    with pytest.raises(error):
        regenerate_reply(user=person, conversation=conversation, reply_id=reply.pk)
    with pytest.raises(error):
        ChatHistory.from_openai(user=person, messages=[{"role": "user", "content": "Hello"}])


def test_a_page_asks_once(browser):
    with CaptureQueriesContext(connection) as queries:
        assert browser.get(reverse("conversations:list")).status_code == 200
    assert sum("accounts_gateentry" in query["sql"] for query in queries) == 1


def test_what_spends_asks_once_more_at_the_moment_it_does(browser, conversation):
    with CaptureQueriesContext(connection) as queries:
        browser.post(f"/c/{conversation.public_id}/messages/post/", {"content": "Hello", "client_id": uuid.uuid4()})
    assert Message.objects.exists()
    assert sum("accounts_gateentry" in query["sql"] for query in queries) == 2


# Sockets


@pytest.mark.parametrize(("shut", "error"), EVERY_WAY)
async def test_an_idle_socket_is_closed_with_what_the_page_must_do(page, shut, error):
    await in_thread(shut)
    assert await page.close_code() == (4403 if issubclass(error, GateClosed) else 4401)


@pytest.fixture
def _unwatched(monkeypatch):
    """Let sockets on which nothing happens go unchecked."""
    monkeypatch.setattr(revocation_watcher, "CHECK_SECONDS", 3600)


@pytest.mark.usefixtures("_unwatched")
async def test_a_frame_after_the_gate_was_shut_does_nothing(page, conversation):
    await in_thread(shut_gate)
    await page.send("message.post", conversation=conversation.public_id, client_id=uuid.uuid4(), content="Hello")
    assert await page.close_code() == 4403
    assert not await in_thread(Message.objects.exists)


async def test_no_socket_is_opened_outside_the_gate(conversation, settings):
    await in_thread(shut_gate)
    outside = handshake(await in_thread(lambda: sign_in(alice())), settings.SITE_URL)
    accepted, _ = await outside.connect()
    assert not accepted


async def test_who_has_the_password_stays_when_others_are_shut_out(page, conversation):
    bob = await in_thread(make_user, "bob")
    other = await Page.open(bob)

    @transaction.atomic
    def shut_for_alice():
        enter(bob, shut_gate())

    await in_thread(shut_for_alice)
    await page.close_code()
    await other.send("conversation.sync", conversation=uuid.uuid4(), from_position=0)
    assert (await other.receive("error"))["code"] == "conversation_not_found"
    await other.communicator.disconnect()


@pytest.mark.parametrize("people", [1, 20])
def test_any_number_of_sockets_takes_two_statements_a_second(people, transactional_db):
    shut_gate()
    users = [make_user(f"person{number}") for number in range(people)]
    enter(users[0])
    keys = [sign_in(user) for user in users]
    valid_sessions = ValidSessions()
    assert session_watcher._admitted(keys, valid_sessions) == {keys[0]}
    with CaptureQueriesContext(connection) as queries:
        assert session_watcher._admitted(keys, valid_sessions) == {keys[0]}
    assert len(queries) == 2


# Replies that are being made


async def begin_reply(conversation):
    """Return a reply whose first words have come."""
    posted = await in_thread(post, conversation, "Count to 500")
    await wait_until(lambda: Message.objects.get(pk=posted.reply.pk).content)
    return posted.reply


@pytest.mark.parametrize(("shut", "error"), EVERY_WAY[:-1])
async def test_the_reply_of_a_user_who_is_shut_out_is_stopped_kept_and_billed(worker, conversation, shut, error):
    reply = await begin_reply(conversation)
    await in_thread(shut)
    ended = await wait_until(lambda: Message.objects.filter(pk=reply.pk).exclude(state="streaming").first())
    completion = await in_thread(Completion.objects.get)
    assert (ended.state, ended.error_code) == ("stopped", ReplyAccessRevoked.code)
    assert ended.content
    assert completion.ended_at
    assert completion.output_tokens == ended.content_tokens > 0


async def test_the_reply_of_an_account_that_is_deleted_ends_and_is_billed(worker, conversation):
    await begin_reply(conversation)
    await in_thread(delete)
    await wait_until(lambda: not worker._active)
    completion = await in_thread(Completion.objects.get)
    assert completion.ended_at
    assert completion.output_tokens > 0


async def test_signing_out_and_a_new_account_password_stop_nothing(worker, conversation, page):
    reply = await begin_reply(conversation)

    def sign_out_everywhere():
        person = alice()
        person.set_password("another one altogether")
        person.save()

    await in_thread(sign_out_everywhere)
    assert await page.close_code() == 4401
    length = await in_thread(lambda: len(Message.objects.get(pk=reply.pk).content))
    await wait_until(lambda: len(Message.objects.get(pk=reply.pk).content) > length + 20)


async def test_the_replies_of_others_go_on(worker, conversation):
    def begin_of_bob():
        bob = make_user("bob", gate_rule="waived")
        return begin(bob)

    reply = await begin_reply(conversation)
    other = await begin_reply(await in_thread(begin_of_bob))
    await in_thread(shut_gate)
    await wait_until(lambda: Message.objects.get(pk=reply.pk).state == "stopped")
    assert (await in_thread(Message.objects.get, pk=other.pk)).state == "streaming"


@pytest.mark.parametrize(("shut", "error"), EVERY_WAY[:-1])
def test_a_reply_that_waits_for_a_worker_is_not_begun(conversation, shut, error):
    reply = post(conversation, "Hello").reply
    shut()
    assert claim_runs("worker", limit=10).runs == []
    reply.refresh_from_db()
    assert (reply.state, reply.error_code) == ("stopped", ReplyAccessRevoked.code)
    assert Run.objects.get().state == "ended"
    assert not Completion.objects.exists()


def test_on_return_the_page_says_why_the_reply_is_not_whole(browser, conversation):
    post(conversation, "Hello")
    password = shut_gate()
    enter(alice(), password)
    rotate()
    claim_runs("worker", limit=10)
    password.refresh_from_db()
    enter(alice(), password)
    page = browser.get(f"/c/{conversation.public_id}/").text
    assert sentence_for(ReplyAccessRevoked.code) in page
    assert "You stopped this reply" not in page
