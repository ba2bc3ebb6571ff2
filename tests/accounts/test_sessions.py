"""Whose sessions they are: asked of many at once, the answer is that of asking for each."""

from __future__ import annotations

import pytest
from django.utils import timezone

from chatsite.accounts.models import Session
from chatsite.accounts.sessions.session_store import SessionStore, find_session_user, find_session_users
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
    key = sign_in(alice)
    lose(alice)
    assert find_session_users([key]) == {}
    assert not find_session_user(key).is_authenticated


def test_a_session_without_anybody_signed_in_is_left_out(db):
    visitor = SessionStore()
    visitor["theme"] = "dark"
    visitor.save()
    assert find_session_users([visitor.session_key, "forged"]) == {}
