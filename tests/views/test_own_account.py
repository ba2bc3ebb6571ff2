"""Export and deletion of one's own account: only after reauthentication, and one export at a time."""

from __future__ import annotations

import io
from contextlib import AsyncExitStack
from zipfile import ZipFile

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.core import mail
from django.core.cache import cache
from django.db.models.functions import Now
from django.test import AsyncClient, Client
from django.urls import reverse

from chatsite.accounts.models import Session, User
from chatsite.accounts.sessions.session_store import SessionStore
from conversations.models import Completion, Conversation, ExportLease, Message
from conversations.services.portability.export_lease import HELD_FOR, LeaseLost
from conversations.services.review.readings import open_reading
from tests.access_matrix.world import session_of
from tests.accounts.software_passkeys import make_passkey
from tests.admin.stored import make_completion
from tests.support.people import PASSWORD, begin, make_user, post
from tests.support.sockets import Page
from tests.support.waiting import in_thread

EXPORT, DELETE = reverse("conversations:export_account"), reverse("conversations:delete_account")
pytestmark = pytest.mark.django_db(transaction=True)  # the file is read in threads of their own


@pytest.fixture(autouse=True)
def _nothing_under_way():
    cache.clear()


@pytest.fixture
def alice():
    user = make_user("alice")
    user.set_password("correct-horse-battery")
    user.save()
    return user


@pytest.fixture
def client_of(settings):
    """Return a browser in which the user has just reauthenticated."""

    def make(user, kind=Client, **options):
        client = kind(**options)
        client.cookies[settings.SESSION_COOKIE_NAME] = session_of(user)
        return client

    return make


async def whole(response) -> bytes:
    return b"".join([piece async for piece in response.streaming_content])


def exported(client: AsyncClient):
    async def ask():
        response = await client.post(EXPORT)
        return response, await whole(response)

    return async_to_sync(ask)()


def test_the_page_leads_to_a_zip_file(alice, client_of):
    post(begin(alice), "Which seat?")
    assert "ZIP" in client_of(alice).get(EXPORT).content.decode()
    response, body = exported(client_of(alice, AsyncClient))
    archive = ZipFile(io.BytesIO(body))
    assert archive.testzip() is None
    assert {"README.txt", "account.json", "usage.csv", "documents.csv"} < set(archive.namelist())
    assert response.headers["Content-Type"] == "application/zip"
    assert response.headers["Content-Disposition"].startswith("attachment")
    assert "no-store" in response.headers["Cache-Control"]


@pytest.mark.parametrize("path", [EXPORT, DELETE])
@pytest.mark.parametrize("method", ["get", "post"])
def test_who_has_only_the_session_is_asked_again_who_they_are(alice, path, method):
    client = Client()
    client.force_login(alice)
    response = getattr(client, method)(path, {"email": alice.email}, follow=True)
    assert response.redirect_chain[-1][0].startswith("/accounts/reauthenticate/")
    assert User.objects.filter(pk=alice.pk).exists()


def test_a_deletion_that_was_given_up_does_not_happen_at_the_next_visit(alice):
    alice.set_password(PASSWORD)
    alice.save()
    client = Client()
    client.force_login(alice)
    client.post(DELETE, {"email": alice.email})  # then the password is asked for, and they think again
    asked = client.get(DELETE).headers["Location"]
    response = client.post(asked, {"password": PASSWORD, "next": DELETE}, follow=True)
    assert response.redirect_chain[-1][0] == DELETE
    assert User.objects.filter(pk=alice.pk).exists()


@pytest.mark.parametrize("path", [EXPORT, DELETE])
def test_who_has_a_second_factor_shows_it(alice, client_of, path):
    client = client_of(alice)
    session = SessionStore(client.cookies["sessionid"].value)
    session["account_authentication_methods"] = session["account_authentication_methods"][:1]  # by password only
    session.save()
    assert client.get(path).status_code == 200
    make_passkey(alice)
    assert client.get(path).headers["Location"].startswith("/accounts/2fa/")
    assert client.post(path, {"email": alice.email}).headers["Location"].startswith("/accounts/2fa/")
    assert User.objects.filter(pk=alice.pk).exists()


@pytest.mark.parametrize("path", [EXPORT, DELETE])
def test_a_post_from_elsewhere_does_nothing(alice, client_of, path):
    strict = client_of(alice, enforce_csrf_checks=True)
    assert strict.post(path, {"email": alice.email}).status_code == 403
    assert User.objects.filter(pk=alice.pk).exists()


def test_of_twenty_files_at_once_one_is_made(alice, client_of):
    client = client_of(alice, AsyncClient)

    async def ask():
        first = await client.post(EXPORT)
        others = [await client.post(EXPORT) for _ in range(19)]
        body = await whole(first)
        again = await client.post(EXPORT)
        await whole(again)
        return first, others, body, again

    first, others, body, again = async_to_sync(ask)()
    assert (first.status_code, again.status_code) == (200, 200)
    assert {response.status_code for response in others} == {429}
    assert all(int(response["Retry-After"]) > 0 for response in others)
    assert "already being made" in others[0].content.decode()
    assert ZipFile(io.BytesIO(body)).testzip() is None


def test_one_person_s_file_keeps_no_one_else_waiting(alice, client_of):
    bob = make_user("bob")

    async def ask():
        async with AsyncExitStack():
            begun = await client_of_alice.post(EXPORT)
            other = await client_of_bob.post(EXPORT)
            await whole(begun)
            return other.status_code, await whole(other)

    client_of_alice, client_of_bob = client_of(alice, AsyncClient), client_of(bob, AsyncClient)
    assert async_to_sync(ask)()[0] == 200


def test_a_user_who_breaks_off_may_begin_again(alice, client_of):
    client = client_of(alice, AsyncClient)

    async def ask():
        response = await client.post(EXPORT)
        await anext(aiter(response))
        await sync_to_async(response.close)()
        again = await client.post(EXPORT)
        return again.status_code, await whole(again)

    assert async_to_sync(ask)()[0] == 200


def test_a_file_that_no_one_has_read_on_for_long_breaks_off_once_another_is_made(alice, client_of):
    client = client_of(alice, AsyncClient)

    async def ask():
        left = aiter(await client.post(EXPORT))
        await anext(left)
        await ExportLease.objects.aupdate(ends_at=Now() - HELD_FOR)
        newer = await client.post(EXPORT)
        with pytest.raises(LeaseLost):
            await anext(left)
        return await whole(newer)

    assert ZipFile(io.BytesIO(async_to_sync(ask)())).testzip() is None


def test_the_file_is_shut_away_behind_the_gate(alice, client_of):
    User.objects.update(gate_rule="blocked")
    assert client_of(alice).post(EXPORT).headers["Location"].startswith("/gate/")


def test_it_is_said_what_goes_and_what_stays(alice, client_of):
    conversation = begin(alice)
    make_completion(alice, reply=post(conversation, "Which seat?").reply)
    page = client_of(alice).get(DELETE, headers={"X-Without-Shell": "true"}).content.decode()
    assert "The figures of 1 request:" in page
    assert "Which seat" not in page


def test_what_goes_is_an_account_in_chinese_too_not_a_bill(alice, client_of):
    page = client_of(alice).get(DELETE, headers={"accept-language": "zh-hans"}).text
    assert "<dt>你的账号</dt>" in page
    assert "账目" not in page


def test_a_reviewer_is_told_that_what_they_read_stays_on_record(alice, client_of):
    stays = "The record of what you have read as a reviewer is kept, with your address."
    assert stays not in client_of(alice).get(DELETE).content.decode()
    User.objects.filter(pk=alice.pk).update(role="reviewer")
    alice.refresh_from_db()
    open_reading(alice, begin(make_user("bob")), "A customer asked for help")
    assert stays in client_of(alice).get(DELETE).content.decode()


@pytest.mark.parametrize("typed", ["", "bob@example.org", "\x00", "x" * 300])
def test_nothing_goes_before_the_address_is_typed(alice, client_of, typed):
    client = client_of(alice)
    assert client.post(DELETE, {"email": typed}).status_code == 400
    assert User.objects.filter(pk=alice.pk).exists()


def test_everything_goes_but_the_amounts(alice, client_of):
    conversation = begin(alice)
    make_completion(alice, reply=post(conversation, "Which seat?").reply)
    client = client_of(alice)
    response = client.post(DELETE, {"email": " Alice@Example.org "}, follow=True)
    assert response.redirect_chain == [("/account/deleted/", 302)]
    assert "Goodbye" in response.content.decode()
    assert not User.objects.filter(pk=alice.pk).exists()
    assert [model for model in (Conversation, Message, Session) if model.objects.exists()] == []
    assert Completion.objects.get().user is None
    assert client.get("/account/").status_code == 302


def test_the_gate_keeps_no_one_from_going(alice, client_of):
    User.objects.update(gate_rule="blocked")
    assert client_of(alice).post(DELETE, {"email": alice.email}).headers["Location"] == "/account/deleted/"
    assert not User.objects.exists()


def test_no_one_else_goes_with_them(alice, client_of):
    bob = make_user("bob")
    theirs = begin(bob)
    client_of(alice).post(DELETE, {"email": alice.email, "user": bob.pk, "id": bob.pk})
    assert [*User.objects.all()] == [bob]
    assert [*Conversation.objects.all()] == [theirs]


def test_the_last_admin_stays_and_reads_why(client_of):
    ada = make_user("ada", role="admin")
    response = client_of(ada).post(DELETE, {"email": ada.email})
    assert response.status_code == 400
    assert "only admin" in response.content.decode()
    assert User.objects.filter(pk=ada.pk).exists()


@pytest.mark.parametrize("smtp_url", ["smtp://localhost", ""])
def test_a_mail_says_so_where_mails_are_sent(alice, client_of, settings, smtp_url):
    settings.SMTP_URL = smtp_url
    client_of(alice).post(DELETE, {"email": alice.email})
    assert [message.to for message in mail.outbox] == ([["alice@example.org"]] if smtp_url else [])


def test_a_mail_that_fails_does_not_bring_the_account_back(alice, client_of, settings):
    settings.SMTP_URL = "smtp://localhost"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    assert client_of(alice).post(DELETE, {"email": alice.email}).headers["Location"] == "/account/deleted/"
    assert not User.objects.exists()


async def test_pages_that_are_open_close(alice, client_of):
    page = await Page.open(alice)
    client = await in_thread(client_of, alice)
    await in_thread(client.post, DELETE, {"email": alice.email})
    assert await page.close_code() == 4401


async def test_a_session_that_is_ended_elsewhere_loses_its_open_pages(alice, client_of):
    page = await Page.open(alice)
    client = await in_thread(client_of, alice)
    await in_thread(client.post, "/account/sessions/end/", {"session": "others"})
    assert await page.close_code() == 4401


async def test_a_reply_that_is_being_written_stops(alice, client_of):
    posted = await in_thread(lambda: post(begin(alice), "Which seat?"))
    client = await in_thread(client_of, alice)
    response = await in_thread(client.post, DELETE, {"email": alice.email})
    assert response.headers["Location"] == "/account/deleted/"
    assert not await in_thread(Message.objects.filter(pk=posted.reply.pk).exists)
