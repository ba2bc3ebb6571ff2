"""Signing in by a passkey alone: it stands for the password and for the second factor, so it must be worth both."""

from __future__ import annotations

import json

import pytest
from allauth.mfa.models import Authenticator
from cryptography.hazmat.primitives.asymmetric import ec
from django.contrib.auth import get_user
from django.test import Client
from fido2.utils import websafe_decode

from chatsite.accounts.models import User
from tests.accounts.conftest import PASSWORD
from tests.accounts.factors import confirm
from tests.accounts.software_passkeys import answer_to_create, answer_to_get, make_passkey

pytestmark = pytest.mark.django_db
ADD = "/accounts/2fa/webauthn/add/"
LOGIN = "/accounts/2fa/webauthn/login/"
IDENTIFIER = b"0123456789abcdef"


@pytest.fixture(scope="module")
def key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@pytest.fixture
def browser() -> Client:
    return Client(SERVER_NAME="localhost")


@pytest.fixture
def add_passkey(ada, sign_in, key):
    """Add a passkey of Ada's by the pages."""

    def add(*, alone: bool, verified: bool = True) -> None:
        browser = Client(SERVER_NAME="localhost")
        sign_in(browser, confirm(ada).email)
        browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
        asked = browser.get(ADD).context["js_data"]["creation_options"]["publicKey"]["challenge"]
        made = answer_to_create(IDENTIFIER, key, challenge=websafe_decode(asked), verified=verified)
        browser.post(ADD, {"credential": json.dumps(made), **({"passwordless": "on"} if alone else {})})

    return add


def challenge_to_sign_in(browser: Client, _sign_in) -> str:
    asked = browser.get(LOGIN, headers={"Accept": "application/json"}).json()
    return asked["request_options"]["publicKey"]["challenge"]


def challenge_of_a_second_factor(browser: Client, sign_in) -> str:
    """What Eve is asked, who has a passkey too, and lets her own sign-in run out then."""
    eve = confirm(User.objects.create_user("eve@example.org", PASSWORD))
    make_passkey(eve)
    sign_in(browser, eve.email)
    page = browser.get("/accounts/2fa/authenticate/")
    session = browser.session
    session["account_login"] = {**session["account_login"], "initiated_at": 1}
    session.save()
    return page.context["js_data"]["request_options"]["publicKey"]["challenge"]


def answer(browser: Client, ada: User, key, challenge: str, *, verified: bool) -> None:
    credential = answer_to_get(IDENTIFIER, key, challenge=websafe_decode(challenge), user=ada, verified=verified)
    browser.post(LOGIN, {"credential": json.dumps(credential)})


@pytest.mark.parametrize("begin", [challenge_to_sign_in, challenge_of_a_second_factor])
@pytest.mark.parametrize("verified", [True, False])
def test_only_a_checked_person_who_was_asked_to_sign_in_comes_in(
    browser, ada, sign_in, add_passkey, key, begin, verified
):
    add_passkey(alone=True)
    answer(browser, ada, key, begin(browser, sign_in), verified=verified)
    assert get_user(browser).is_authenticated is (verified and begin is challenge_to_sign_in)


def test_a_passkey_that_comes_after_the_password_is_not_enough(browser, ada, sign_in, add_passkey, key):
    add_passkey(alone=False)
    answer(browser, ada, key, challenge_to_sign_in(browser, sign_in), verified=True)
    assert not get_user(browser).is_authenticated


@pytest.mark.parametrize("alone", [True, False])
def test_what_it_is_for_is_the_persons_choice_whatever_the_browser_reports(add_passkey, alone):
    """Not every browser does; and one may keep a passkey where it can be found though that was not asked for."""
    add_passkey(alone=alone)
    assert Authenticator.objects.get(type="webauthn").wrap().is_passwordless is alone


def test_a_passkey_that_has_not_checked_its_person_is_not_added_to_sign_in_alone(add_passkey):
    add_passkey(alone=True, verified=False)
    assert not Authenticator.objects.exists()
