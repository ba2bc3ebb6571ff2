"""STAFF_SECOND_FACTOR: the admin behind a second factor, all of it."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth import get_user
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from chatsite.accounts.models import User
from chatsite.accounts.sign_up.first_admin import first_admin_url
from tests.accounts.conftest import PASSWORD
from tests.accounts.factors import SECRET, code_of, confirm, give_app, set_up_app

pytestmark = pytest.mark.django_db
SET_UP = "/account/second-factor/"
CONFIRM = "/accounts/2fa/reauthenticate/?next=%2Fadmin%2F"


@pytest.fixture
def staff(ada, settings) -> User:
    settings.STAFF_SECOND_FACTOR = True
    ada.role = "reviewer"
    ada.save()
    return confirm(ada)


@pytest.fixture
def browser(client, staff, sign_in) -> Client:
    """The browser of a reviewer who signed in by password."""
    sign_in(client, staff.email)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    return client


def admin_addresses(resolver: URLResolver | None = None, prefix: str = "/") -> list[str]:
    """Return an address for every pattern of the admin."""
    found = []
    for pattern in (resolver or get_resolver()).url_patterns:
        address = prefix + str(pattern.pattern).replace("<path:object_id>", "1").replace("<path:content_type_id>", "1")
        if isinstance(pattern, URLPattern):
            found.append(address)
        elif resolver or pattern.app_name == "admin":
            found += admin_addresses(pattern, address)
    return [address.partition("<")[0].partition("(")[0].replace("^", "") for address in found]


def test_without_the_setting_nothing_changes(client, ada, sign_in):
    User.objects.update(role="reviewer")
    sign_in(client, ada.email)
    assert client.get("/admin/").status_code == 200


def test_no_address_of_the_admin_answers_who_has_none(browser):
    addresses = [address for address in admin_addresses() if address.startswith("/admin/")]
    assert len(addresses) > 30
    answers = {address: browser.get(address).headers.get("Location") for address in addresses}
    assert set(answers.values()) == {SET_UP}, answers


def test_posting_does_not_either(browser):
    assert browser.post("/admin/accounts/user/1/change/").headers["Location"] == SET_UP


def test_the_page_leads_to_setting_one_up(browser):
    page = browser.get(SET_UP).content.decode()
    assert "/accounts/2fa/totp/activate/" in page


@pytest.mark.django_db(transaction=True)
def test_who_sets_one_up_enters(browser):
    set_up_app(browser)
    assert browser.get("/admin/").status_code == 200


def test_a_session_begun_without_the_factor_confirms_it_and_enters(browser, staff):
    give_app(staff)
    assert browser.get("/admin/").headers["Location"] == CONFIRM
    assert browser.post("/admin/").headers["Location"] == CONFIRM
    assert browser.post(CONFIRM, {"code": code_of(), "next": "/admin/"}).headers["Location"] == "/admin/"
    assert browser.get("/admin/").status_code == 200


def test_a_session_begun_with_it_enters(client, staff, sign_in):
    give_app(staff)
    sign_in(client, staff.email)
    client.post("/accounts/2fa/authenticate/", {"code": code_of()})
    assert client.get("/admin/").status_code == 200


def test_removing_the_last_one_shuts_the_admin_again(client, staff, sign_in):
    give_app(staff)
    sign_in(client, staff.email)
    client.post("/accounts/2fa/authenticate/", {"code": code_of()})
    Authenticator.objects.all().delete()
    assert client.get("/admin/").headers["Location"] == SET_UP


def test_recovery_codes_alone_are_no_second_factor(browser, staff):
    Authenticator.objects.create(user=staff, type="recovery_codes", data={"seed": SECRET, "used_mask": 0})
    assert browser.get("/admin/").headers["Location"] == SET_UP


def test_the_rest_of_the_site_stays_open(browser):
    assert browser.get("/account/").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_the_first_admin_signs_up_and_then_sets_it_up(client, settings, sign_up):
    settings.STAFF_SECOND_FACTOR = True
    client.post("/first-admin/", {"token": first_admin_url().partition("#")[2]})
    sign_up(client, "grace@example.org")
    assert get_user(client).role == "admin"
    assert client.get("/admin/").headers["Location"] == SET_UP
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    set_up_app(client)
    assert client.get("/admin/").status_code == 200


def test_the_page_sends_on_who_needs_nothing(client, ada):
    client.force_login(ada)
    assert client.get(SET_UP).headers["Location"] == "/account/"
