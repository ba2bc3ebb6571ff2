"""People who sign in at the provider only: before what can't be undone they show there that it is still they."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.account import app_settings
from django.contrib.auth import get_user
from django.test import Client

from chatsite.accounts.models import User
from tests.accounts.conftest import PASSWORD
from tests.accounts.software_passkeys import make_passkey
from tests.support.identity_provider import person

from .visitors import LOGIN, come_back, confirm_there, sign_in_there

DELETE, EXPORT = "/account/delete/", "/account/export/"
WAYS_IN = ["/accounts/password/set/", "/accounts/email/", "/accounts/3rdparty/", "/accounts/2fa/totp/activate/"]
GUARDED = [DELETE, EXPORT, *WAYS_IN]

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(provider) -> Client:
    client = Client()
    sign_in_there(client)
    return client


@pytest.mark.parametrize("page", GUARDED)
def test_it_is_asked_at_the_provider_and_then_the_page_is_there(browser, page):
    asked = browser.get(page).headers["Location"]
    assert asked.startswith(f"{LOGIN}?process=confirm")
    assert "again before making this change" in browser.get(asked).text
    assert confirm_there(browser, page).headers["Location"] == page
    assert browser.get(page).status_code == 200


@pytest.mark.parametrize("page", GUARDED)
def test_nothing_that_is_posted_before_does_anything(browser, page):
    user = get_user(browser)
    answer = browser.post(page, {"email": user.email, "password1": PASSWORD, "password2": PASSWORD})
    assert answer.headers["Location"].startswith(LOGIN)
    assert not User.objects.get(pk=user.pk).has_usable_password()


def test_the_provider_is_told_not_to_take_its_own_session_for_it(browser):
    url = browser.post(browser.get(DELETE).headers["Location"]).context["redirect_to"]
    asked = parse_qs(urlsplit(url).query)
    assert (asked["prompt"], asked["max_age"]) == (["login"], ["0"])


def test_a_provider_that_asked_no_one_is_not_believed(browser, provider):
    provider.fault = "silent"
    assert confirm_there(browser).status_code in (200, 401, 403)
    assert browser.get(EXPORT).headers["Location"].startswith(LOGIN)


def test_one_that_does_not_say_when_is_believed(browser, provider):
    provider.fault = "no auth_time"
    confirm_there(browser)
    assert browser.get(EXPORT).status_code == 200


@pytest.mark.parametrize("other", [person("mallory", "mallory@example.org"), person("mallory", "ada@example.org")])
def test_another_user_who_signs_in_there_confirms_nothing_and_gets_nothing(browser, provider, other):
    user = get_user(browser)
    provider.person = other
    assert confirm_there(browser).status_code == 403
    assert get_user(browser) == user
    assert browser.get(EXPORT).headers["Location"].startswith(LOGIN)
    assert User.objects.count() == user.socialaccount_set.count() == 1


def test_who_is_signed_out_meanwhile_is_not_signed_in_by_it(browser, provider):
    url = browser.post(browser.get(EXPORT).headers["Location"]).context["redirect_to"]
    back = come_back(url)
    User.objects.update(is_active=False)
    assert browser.get(back).status_code == 403
    assert not get_user(browser).is_authenticated


def test_it_holds_for_a_few_minutes(browser):
    confirm_there(browser)
    session = browser.session
    for record in session["account_authentication_methods"]:
        record["at"] -= app_settings.REAUTHENTICATION_TIMEOUT
    session.save()
    assert browser.get(EXPORT).headers["Location"].startswith(LOGIN)


def test_signing_in_is_not_yet_confirming(browser):
    sign_in_there(browser)
    assert browser.get(EXPORT).headers["Location"].startswith(LOGIN)


def test_who_has_a_password_is_asked_for_that(browser):
    user = get_user(browser)
    user.set_password(PASSWORD)
    user.save()
    browser.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    assert browser.get(EXPORT).headers["Location"].startswith("/accounts/reauthenticate/")


def test_who_has_a_password_does_not_get_around_it_there(browser, provider):
    user = get_user(browser)
    user.set_password(PASSWORD)
    user.save()
    browser.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    provider.fault = "no auth_time"
    sign_in_there(browser, process="confirm")
    assert browser.get(EXPORT).headers["Location"].startswith("/accounts/reauthenticate/")


def test_another_account_there_becomes_a_way_in_only_after_it(browser, provider):
    ada, mallory = provider.person, person("mallory", "mallory@example.org")
    provider.person = mallory
    assert sign_in_there(browser, process="connect").headers["Location"].startswith(f"{LOGIN}?process=confirm")
    assert get_user(browser).socialaccount_set.count() == 1
    provider.person = ada
    confirm_there(browser, "/accounts/3rdparty/")
    provider.person = mallory
    sign_in_there(browser, process="connect")
    assert get_user(browser).socialaccount_set.count() == 2


def test_who_has_a_second_factor_is_asked_for_that(browser):
    make_passkey(get_user(browser))
    assert browser.get(EXPORT).headers["Location"].startswith("/accounts/2fa/")


def test_the_account_is_deleted_in_the_end(browser):
    email = get_user(browser).email
    confirm_there(browser, DELETE)
    assert browser.post(DELETE, {"email": email}).headers["Location"] == "/account/deleted/"
    assert not User.objects.exists()
