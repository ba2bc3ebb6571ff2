"""Accounts that are there already: which of them the provider opens, and which it is connected to."""

from __future__ import annotations

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth import get_user
from django.test import Client

from chatsite.accounts.models import User
from tests.accounts.conftest import PASSWORD
from tests.support.identity_provider import person

from .visitors import confirm, confirm_there, sign_in_there

pytestmark = pytest.mark.django_db


def test_a_vouched_for_address_opens_the_account_that_has_confirmed_it(client, provider, ada):
    confirm(ada)
    sign_in_there(client)
    assert get_user(client) == ada
    assert get_user(client).check_password(PASSWORD)
    assert SocialAccount.objects.get().user == ada


@pytest.mark.parametrize("verified", [False, None, "false", "", 0, "yes"])
def test_an_address_that_no_one_vouches_for_opens_no_account(client, provider, ada, verified):
    confirm(ada)
    provider.person = person("mallory", ada.email, verified=verified)
    sign_in_there(client)
    assert not get_user(client).is_authenticated
    assert not SocialAccount.objects.exists()


def test_an_account_that_a_user_made_with_the_victims_address_keeps_nothing_of_theirs(
    client, provider, sign_up, sign_in
):
    attacker = Client()
    sign_up(attacker, "ada@example.org")
    squatted = get_user(attacker)
    SocialAccount.objects.create(user=squatted, provider="sso", uid="of the attacker")
    EmailAddress.objects.create(user=squatted, email="attacker@example.org", verified=False)
    sign_in_there(client)
    assert get_user(client).email == "ada@example.org"
    assert not get_user(attacker).is_authenticated
    sign_in(attacker, "ada@example.org")
    assert not get_user(attacker).is_authenticated
    assert [address.email for address in EmailAddress.objects.all()] == ["ada@example.org"]
    assert SocialAccount.objects.get().uid != "of the attacker"


def test_an_account_that_waits_to_change_to_the_victims_address_is_not_opened(client, provider):
    mallory = confirm(User.objects.create_user("mallory@example.org", PASSWORD))
    EmailAddress.objects.create(user=mallory, email="ada@example.org", verified=False)
    sign_in_there(client)
    assert get_user(client).email == "ada@example.org"
    assert get_user(client) != mallory
    assert not EmailAddress.objects.filter(user=mallory, email="ada@example.org").exists()


def test_staff_who_have_not_confirmed_their_address_are_not_opened_by_it(client, provider, ada):
    User.objects.update(role="admin")
    response = sign_in_there(client)
    assert response.status_code == 403
    assert "Confirm the address first" in response.content.decode()
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def test_an_address_that_was_never_confirmed_takes_no_second_factor_away(client, provider, ada):
    Authenticator.objects.create(user=ada, type="totp", data={"secret": "JBSWY3DPEHPK3PXP"})
    assert sign_in_there(client).status_code == 403
    assert Authenticator.objects.exists()


@pytest.mark.parametrize("known", [True, False])
def test_a_deactivated_account_stays_shut(client, provider, ada, known):
    confirm(ada)
    if known:
        sign_in_there(Client())
    User.objects.update(is_active=False)
    assert sign_in_there(client).headers["Location"] == "/accounts/inactive/"
    assert not get_user(client).is_authenticated


def test_an_account_with_a_second_factor_asks_for_it_here_too(client, provider, ada):
    confirm(ada)
    Authenticator.objects.create(user=ada, type="totp", data={"secret": "JBSWY3DPEHPK3PXP"})
    assert sign_in_there(client).headers["Location"] == "/accounts/2fa/authenticate/"
    assert not get_user(client).is_authenticated


def test_staff_who_come_from_there_need_a_second_factor_of_this_site(client, provider, settings, ada):
    settings.STAFF_SECOND_FACTOR = True
    User.objects.update(role="reviewer")
    confirm(ada)
    sign_in_there(client)
    assert client.get("/admin/").headers["Location"] == "/account/second-factor/"


# Connecting


def test_a_person_connects_and_disconnects_it(client, provider, ada, sign_in):
    sign_in(client, ada.email)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    provider.person = person("somebody", "elsewhere@example.org")
    sign_in_there(client, process="connect")
    connection = SocialAccount.objects.get(user=ada)
    assert "elsewhere@example.org" in client.get("/accounts/3rdparty/").content.decode()
    client.post("/accounts/3rdparty/", {"account": connection.pk})
    assert not SocialAccount.objects.exists()


def test_connecting_asks_whether_it_is_you(client, provider, ada, sign_in):
    sign_in(client, ada.email)
    assert sign_in_there(client, process="connect").headers["Location"] == "/accounts/reauthenticate/"
    assert not SocialAccount.objects.exists()


def test_the_only_way_in_is_not_disconnected(client, provider):
    sign_in_there(client)
    confirm_there(client)
    response = client.post("/accounts/3rdparty/", {"account": SocialAccount.objects.get().pk})
    assert "Choose a password first" in response.content.decode()
    assert SocialAccount.objects.exists()


def test_what_another_account_is_connected_to_stays_with_it(client, provider, ada, sign_in):
    confirm(ada)
    sign_in_there(Client())
    bob = User.objects.create_user("bob@example.org", PASSWORD)
    sign_in(client, bob.email)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    sign_in_there(client, process="connect")
    assert SocialAccount.objects.get().user == ada
