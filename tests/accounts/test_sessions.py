"""Whose sessions they are: asked of many at once, the answer is that of asking for each."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, SESSION_KEY, get_backends, get_user, login, logout
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from chatsite.accounts.models import Session
from chatsite.accounts.sessions import session_store
from chatsite.accounts.sessions.session_middleware import SessionUserMiddleware, TrackedSessionMiddleware
from chatsite.accounts.sessions.session_store import (
    SessionStore,
    ValidSessions,
    find_session_user,
    find_session_users,
)
from tests.support.people import make_user
from tests.support.sockets import sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return make_user("alice")


def test_every_session_has_its_user(alice, django_assert_num_queries):
    bob = make_user("bob")
    expected = {sign_in(alice): alice, sign_in(bob): bob, sign_in(bob): bob}
    with django_assert_num_queries(1):
        assert find_session_users(expected.keys()) == expected
    assert {key: find_session_user(key) for key in expected} == expected


def test_whose_one_session_is_takes_one_statement(alice, django_assert_num_queries):
    key = sign_in(alice)
    with django_assert_num_queries(1):
        assert find_session_user(key) == alice


def test_a_session_that_names_another_user_is_left_to_django(alice):
    """As no session does: whose it is stands in it twice, and both are written together."""
    key, bob = sign_in(alice), make_user("bob")
    Session.objects.update(user=bob)
    assert find_session_users([key]) == {}
    assert find_session_user(key) == alice


def change_password(user):
    user.set_password("another-horse-battery")
    user.save()


def let_expire(user):
    Session.objects.update(expire_date=timezone.now())


def sign_out(user):
    Session.objects.all().delete()


def damage(user):
    Session.objects.update(session_data="not signed")


@pytest.mark.parametrize("lose", [change_password, let_expire, sign_out, damage, lambda user: user.delete()])
def test_a_session_that_is_no_ones_any_more_is_left_out(alice, lose):
    key, valid_sessions = sign_in(alice), ValidSessions()
    assert valid_sessions.find_user_ids([key]) == {key: alice.pk}
    lose(alice)
    assert valid_sessions.find_user_ids([key]) == {}
    assert find_session_users([key]) == {}
    assert not find_session_user(key).is_authenticated


def test_sessions_are_decoded_once_and_again_when_they_change(alice, monkeypatch):
    keys, valid_sessions, decoded = [sign_in(alice), sign_in(make_user("bob"))], ValidSessions(), []

    def note(asked):
        decoded.append(set(asked))
        return find_session_users(asked)

    monkeypatch.setattr(session_store, "find_session_users", note)
    for _ in range(2):
        assert set(valid_sessions.find_user_ids(keys)) == set(keys)
    store = SessionStore(keys[0])
    store["theme"] = "dark"
    store.save()
    assert set(valid_sessions.find_user_ids(keys)) == set(keys)
    assert decoded == [set(keys), {keys[0]}]


def test_a_session_without_anybody_signed_in_is_left_out(db):
    visitor = SessionStore()
    visitor["theme"] = "dark"
    visitor.save()
    assert find_session_users([visitor.session_key, "forged"]) == {}


def request_of(key, middleware=SessionUserMiddleware):
    """A request with that session, as it leaves the middleware."""
    request = HttpRequest()
    request.COOKIES[settings.SESSION_COOKIE_NAME] = key
    TrackedSessionMiddleware(lambda _: HttpResponse()).process_request(request)
    middleware(lambda _: HttpResponse()).process_request(request)
    return request


def test_a_request_reads_its_session_and_its_user_by_one_statement(alice, django_assert_num_queries):
    request = request_of(sign_in(alice))
    with django_assert_num_queries(1):
        assert request.user == alice
        assert request.session[SESSION_KEY] == str(alice.pk)


def deactivate(user):
    user.is_active = False
    user.save()


def name_unknown_backend(user):
    for session in Session.objects.all():
        store = SessionStore(session.session_key)
        store[BACKEND_SESSION_KEY] = "chatsite.backends.Gone"
        store.save()


def name_another_user(user):
    Session.objects.update(user=make_user("bob"))


@pytest.mark.parametrize(
    "change",
    [change_password, let_expire, sign_out, deactivate, name_unknown_backend, name_another_user, lambda user: None],
)
def test_the_user_of_a_request_is_whom_django_finds(alice, change):
    key = sign_in(alice)
    change(alice)
    request = request_of(key)
    assert request.user == get_user(request)


def sign_in_as_bob(request, bob):
    login(request, bob, settings.AUTHENTICATION_BACKENDS[0])


def sign_out_here(request, bob):
    logout(request)


def empty_session(request, bob):
    request.session.flush()


def take_new_key(request, bob):
    request.session.cycle_key()


def name_bob(request, bob):
    request.session[SESSION_KEY] = str(bob.pk)


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("change", [sign_in_as_bob, sign_out_here, empty_session, take_new_key, name_bob])
def test_a_change_within_a_request_changes_its_user_as_with_django(alice, change, is_known):
    bob, found = make_user("bob"), []
    for middleware in (SessionUserMiddleware, AuthenticationMiddleware):
        request = request_of(sign_in(alice), middleware)
        if is_known:
            assert request.user == alice
        change(request, bob)
        found.append((request.user.pk, request.session.get(SESSION_KEY)))
    assert found[0] == found[1]


def test_a_session_from_before_another_secret_key_gets_a_new_one(alice, settings):
    key = sign_in(alice)
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another key" * 5
    request = request_of(key)
    assert request.user == alice
    assert request.session.session_key != key
    request.session.save()
    assert request_of(request.session.session_key).user == alice
    assert request_of(key).user.is_anonymous


def test_the_users_of_all_backends_are_those_that_a_session_is_loaded_with():
    """One with a `get_user` of its own has to be asked: `SessionStore.find_user` must leave its sessions to Django."""
    for backend in get_backends():
        for name in ("get_user", "user_can_authenticate"):
            assert getattr(type(backend), name) is getattr(ModelBackend, name)


def test_a_request_with_a_session_key_that_is_none_has_no_user(db):
    assert request_of("no such session").user.is_anonymous
    assert request_of("\x00").user.is_anonymous
