"""Authenticator apps and recovery codes: set up, used, limited, taken away."""

from __future__ import annotations

import re

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib.auth import get_user
from django.core.cache import cache
from django.test import Client

from chatsite.accounts.models import User
from tests.accounts.conftest import PASSWORD
from tests.accounts.factors import code_of, confirm, give_app, set_up_app, wrong_code
from tests.support.inline_code import INLINE

pytestmark = pytest.mark.django_db
AUTHENTICATE = "/accounts/2fa/authenticate/"
TOTP = "/accounts/2fa/totp/activate/"


@pytest.fixture
def signed_in(client, ada, sign_in) -> Client:
    """Ada's browser, just confirmed by her password."""
    confirm(ada)
    sign_in(client, ada.email)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


@pytest.fixture
def half_in(client, ada, sign_in) -> Client:
    """A browser that has given the password of Ada, who has an app."""
    give_app(confirm(ada))
    sign_in(client, ada.email)
    return client


@pytest.mark.django_db(transaction=True)
def test_setting_up_an_app_shows_ten_recovery_codes_once(signed_in):
    codes = set_up_app(signed_in)
    assert len(set(codes)) == 10
    again = signed_in.get("/accounts/2fa/recovery-codes/").content.decode()
    assert "10 codes left" in again
    assert not any(code in again for code in codes)


@pytest.mark.django_db(transaction=True)
def test_recovery_codes_are_never_shown_by_the_other_address(signed_in):
    set_up_app(signed_in)
    assert signed_in.get("/accounts/2fa/recovery-codes/download/").status_code == 403


def test_the_key_is_shown_as_a_picture_and_nothing_inline(signed_in):
    page = signed_in.get(TOTP).content.decode()
    assert re.search(r'<img class="qr-code" src="data:image/svg\+xml;base64,', page)
    assert not re.search(INLINE, page)


def test_a_wrong_code_sets_nothing_up(signed_in):
    secret = signed_in.get(TOTP).context["form"].secret
    assert "This code is wrong" in signed_in.post(TOTP, {"code": wrong_code(secret)}).content.decode()
    assert not Authenticator.objects.exists()


@pytest.mark.parametrize("code", ["", "0", "x" * 1_000_000, "12 34", "\x00", "１２３４５６", "-1"])
def test_nonsense_for_a_code_sets_nothing_up(signed_in, code):
    signed_in.get(TOTP)
    assert signed_in.post(TOTP, {"code": code}).status_code == 200
    assert not Authenticator.objects.exists()


def test_setting_one_up_asks_for_the_password_first(client, ada, sign_in):
    confirm(ada)
    sign_in(client, ada.email)
    assert client.get(TOTP).headers["Location"].startswith("/accounts/reauthenticate/")


def test_who_has_not_confirmed_the_address_does_that_first(client, ada, sign_in):
    EmailAddress.objects.create(user=ada, email=ada.email, primary=True, verified=False)
    sign_in(client, ada.email)
    page = client.get(TOTP, follow=True).content.decode()
    assert "Confirm your email address before you set up a second factor." in page


def test_the_password_alone_signs_no_one_in_who_has_an_app(half_in):
    assert not get_user(half_in).is_authenticated
    assert half_in.get("/account/").status_code == 302


def test_the_code_of_the_app_signs_in(half_in, ada):
    half_in.post(AUTHENTICATE, {"code": code_of()})
    assert get_user(half_in) == ada


def test_a_code_signs_in_once(half_in, ada, sign_in):
    code = code_of()
    half_in.post(AUTHENTICATE, {"code": code})
    second = Client()
    sign_in(second, ada.email)
    second.post(AUTHENTICATE, {"code": code})
    assert not get_user(second).is_authenticated


@pytest.mark.django_db(transaction=True)
def test_a_recovery_code_signs_in_once(signed_in, ada, sign_in):
    code = set_up_app(signed_in)[0]
    outcomes = []
    for browser in (Client(), Client()):
        sign_in(browser, ada.email)
        browser.post(AUTHENTICATE, {"code": code})
        outcomes.append(get_user(browser).is_authenticated)
    assert outcomes == [True, False]


def test_the_sixth_wrong_code_is_refused_from_wherever_it_comes(ada, sign_in):
    give_app(confirm(ada))
    for number in range(5):
        browser = Client(REMOTE_ADDR=f"198.51.100.{number}")
        sign_in(browser, ada.email)
        browser.post(AUTHENTICATE, {"code": wrong_code()})
    browser = Client(REMOTE_ADDR="203.0.113.9")
    sign_in(browser, ada.email)
    assert "Too many failed" in browser.post(AUTHENTICATE, {"code": code_of()}).content.decode()
    assert not get_user(browser).is_authenticated


def test_signing_in_by_password_again_does_not_give_more_tries_at_the_code(ada, sign_in):
    give_app(confirm(ada))
    pages = []
    for _ in range(7):
        browser = Client()
        sign_in(browser, ada.email)
        pages.append(browser.post(AUTHENTICATE, {"code": wrong_code()}).content.decode())
    assert ["Too many failed" in page for page in pages] == [False] * 5 + [True] * 2


def test_confirming_has_the_same_limit(half_in):
    half_in.post(AUTHENTICATE, {"code": code_of()})
    cache.clear()
    url = "/accounts/2fa/reauthenticate/"
    pages = [half_in.post(url, {"code": wrong_code()}).content.decode() for _ in range(6)]
    assert ["Too many failed" in page for page in pages] == [False] * 5 + [True]


def test_a_session_from_before_there_was_one_can_not_change_it(ada, sign_in):
    confirm(ada)
    old = Client()
    sign_in(old, ada.email)
    give_app(ada)
    old.post("/accounts/reauthenticate/", {"password": PASSWORD})
    for page in ("totp/deactivate/", "webauthn/add/", "recovery-codes/generate/", "recovery-codes/"):
        for answer in (old.get(f"/accounts/2fa/{page}"), old.post(f"/accounts/2fa/{page}")):
            assert answer.headers["Location"].startswith("/accounts/2fa/reauthenticate/"), page
    assert Authenticator.objects.count() == 1


def test_once_confirmed_by_the_factor_it_can(ada, sign_in):
    confirm(ada)
    old = Client()
    sign_in(old, ada.email)
    give_app(ada)
    old.post("/accounts/2fa/reauthenticate/", {"code": code_of()})
    old.post("/accounts/2fa/totp/deactivate/")
    assert not Authenticator.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_without_a_factor_the_recovery_codes_go_too(signed_in, sign_in, ada):
    set_up_app(signed_in)
    signed_in.post("/accounts/2fa/totp/deactivate/")
    assert not Authenticator.objects.exists()


def test_a_deactivated_account_is_not_let_in_by_its_code(half_in, ada):
    type(ada).objects.update(is_active=False)
    half_in.post(AUTHENTICATE, {"code": code_of()})
    assert half_in.get("/account/").status_code == 302


@pytest.mark.django_db(transaction=True)
def test_the_account_page_tells_what_there_is(signed_in):
    page = signed_in.get("/account/").content.decode()
    assert "Set up" in page
    assert "Recovery codes" not in page
    set_up_app(signed_in)
    page = signed_in.get("/account/").content.decode()
    assert "Turn off" in page
    assert "10 left" in page


def test_an_admin_helps_who_has_lost_it_and_keeps_their_own(client, ada):
    admin = User.objects.create_superuser("grace@example.org")
    give_app(ada)
    give_app(admin)
    client.force_login(admin)
    data = {"action": "remove_second_factors", "_selected_action": [ada.pk, admin.pk]}
    client.post("/admin/accounts/user/", data)
    assert [factor.user for factor in Authenticator.objects.all()] == [admin]


def test_a_reviewer_takes_no_second_factor_away(client, ada):
    reviewer = User.objects.create_user("rita@example.org", role="reviewer")
    give_app(ada)
    client.force_login(reviewer)
    client.post("/admin/accounts/user/", {"action": "remove_second_factors", "_selected_action": [ada.pk]})
    assert Authenticator.objects.exists()
