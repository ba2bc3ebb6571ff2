"""What the provider is asked, and what it answers: rightly, wrongly, late and never."""

from __future__ import annotations

import logging
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.contrib.auth import get_user
from django.test import Client

from chatsite.accounts.models import User
from tests.support.identity_provider import person

from .visitors import LOGIN, come_back, leave, sign_in_there

pytestmark = pytest.mark.django_db


def test_the_provider_is_asked_with_pkce_a_state_and_a_nonce(client, provider):
    asked = parse_qs(urlsplit(leave(client)).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert all(len(asked[name][0]) >= 16 for name in ("state", "nonce", "code_challenge"))
    assert asked["redirect_uri"] == ["http://testserver/accounts/oidc/sso/login/callback/"]


def test_the_visitor_can_add_nothing_to_what_is_asked(client, provider):
    crafted = urlencode({"auth_params": "redirect_uri=https://evil.example", "scope": "admin"})
    asked = parse_qs(urlsplit(client.post(f"{LOGIN}?{crafted}").context["redirect_to"]).query)
    assert asked["redirect_uri"] == ["http://testserver/accounts/oidc/sso/login/callback/"]
    assert set(asked["scope"][0].split()) == {"openid", "email", "profile"}


def test_signing_in_goes_on_to_where_the_person_wanted_to_go(client, provider):
    assert sign_in_there(client, next="/account/").headers["Location"] == "/account/"


def test_signing_in_never_leads_to_another_site(client, provider):
    assert sign_in_there(client, next="https://evil.example/").headers["Location"] == "/"


def test_what_is_not_in_the_token_is_asked_for(client, provider):
    provider.fault = "email in userinfo"
    sign_in_there(client)
    assert get_user(client).email == "ada@example.org"
    assert "/userinfo" in provider.requests


def test_no_token_of_the_provider_is_kept(client, provider):
    sign_in_there(client)
    assert not SocialToken.objects.exists()
    assert SocialAccount.objects.get().extra_data == {"email": "ada@example.org", "name": "Ada"}


def test_who_turns_back_at_the_provider_is_told_that_nothing_has_changed(client, provider):
    provider.fault = "access_denied"
    response = client.get(sign_in_there(client).headers["Location"])
    assert "You are not signed in" in response.content.decode()


@pytest.mark.parametrize(
    "fault",
    [
        "wrong signature", "no signature", "secret signature", "wrong nonce", "wrong issuer", "wrong audience",
        "expired", "userinfo of another",
    ],
)  # fmt: skip
def test_a_token_that_is_not_right_signs_no_one_in(client, provider, fault, caplog):
    provider.fault = fault
    with caplog.at_level(logging.WARNING):
        response = sign_in_there(client)
    assert response.status_code == 401
    assert "could not tell us who you are" in response.content.decode()
    assert "access token" not in caplog.text
    assert not User.objects.exists()


def test_a_token_without_a_subject_signs_no_one_in(client, provider):
    provider.person = person("", "ada@example.org")
    assert sign_in_there(client).status_code == 401
    assert not User.objects.exists()


def test_an_address_that_can_not_be_stored_as_it_is_proves_no_other(client, provider):
    ada = User.objects.create_user("ada@example.org")
    provider.person = person("mallory", "ad\x00a@example.org")
    sign_in_there(client)
    assert get_user(client) != ada


@pytest.mark.parametrize("fault", ["down", "nonsense", "slow"])
def test_a_provider_that_is_away_is_no_error_of_ours(client, provider, settings, fault):
    settings.SOCIALACCOUNT_REQUESTS_TIMEOUT = 0.2
    provider.fault = fault
    response = client.post(LOGIN)
    assert response.status_code == 401
    assert "could not tell us who you are" in response.content.decode()


@pytest.mark.parametrize("fault", ["down", "nonsense", "slow"])
def test_a_provider_that_goes_away_meanwhile_is_no_error_of_ours(client, provider, settings, fault):
    back = come_back(leave(client))
    settings.SOCIALACCOUNT_REQUESTS_TIMEOUT = 0.2
    provider.fault = fault
    assert client.get(back).status_code == 401


@pytest.mark.parametrize("is_under_way", [False, True])
def test_a_redirect_of_the_provider_is_not_followed(client, provider, is_under_way):
    back = come_back(leave(client)) if is_under_way else None
    provider.fault = "redirects"
    response = client.get(back) if back else client.post(LOGIN)
    assert response.status_code == 401
    assert not [path for path in provider.requests if path.startswith("/elsewhere")]
    assert not User.objects.exists()


def test_a_state_of_another_browser_is_refused(client, provider):
    back = come_back(leave(client))
    assert Client().get(back).status_code == 401
    assert not User.objects.exists()


def test_a_way_back_works_once(client, provider):
    back = come_back(leave(client))
    client.get(back)
    client.logout()
    assert client.get(back).status_code == 401
