"""Passkeys: what browsers are asked, and how answers that no browser would give are refused."""

from __future__ import annotations

import json

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth import get_user
from django.test import Client, RequestFactory

from chatsite.accounts.second_factors.passkeys import why_no_passkeys
from tests.accounts.conftest import PASSWORD
from tests.accounts.factors import confirm, give_app

pytestmark = pytest.mark.django_db
ADD = "/accounts/2fa/webauthn/add/"
LOGIN = "/accounts/2fa/webauthn/login/"
BYTES = "AAAA"
ANSWER = {
    "id": BYTES,
    "rawId": BYTES,
    "type": "public-key",
    "response": {"clientDataJSON": BYTES, "attestationObject": BYTES, "authenticatorData": BYTES, "signature": BYTES},
}
NONSENSE = [
    "", "null", "[]", "{}", "0", '"x"', "{", '{"response": 1}', '{"response": {}}', '{"response": []}', '{"rawId": {}}',
    json.dumps(ANSWER),
    json.dumps({**ANSWER, "response": {**ANSWER["response"], "userHandle": "MQ"}}),
    json.dumps({**ANSWER, "response": {**ANSWER["response"], "userHandle": "____"}}),
    json.dumps({**ANSWER, "response": {**ANSWER["response"], "userHandle": 5}}),
    json.dumps({**ANSWER, "rawId": "é"}), json.dumps({**ANSWER, "more": "\x00"}), json.dumps([ANSWER]),
    json.dumps({**ANSWER, "response": {**ANSWER["response"], "clientDataJSON": "e30"}}),
    json.dumps({**ANSWER, "more": "x" * 100_000}), "[" * 100_000,
]  # fmt: skip


@pytest.fixture
def browser(client, ada, sign_in) -> Client:
    confirm(ada)
    sign_in(client, ada.email)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    client.defaults["SERVER_NAME"] = "localhost"
    return client


@pytest.mark.parametrize(
    ("host", "secure", "words"),
    [
        ("localhost:8000", False, ""),
        ("chat.example.org", True, ""),
        ("chat.example.org", False, "Passkeys need HTTPS;"),
        ("127.0.0.1:8000", False, "To use passkeys, open this site at http://localhost:8000."),
        ("[::1]", False, "To use passkeys, open this site at http://localhost."),
        ("192.0.2.7", True, "Passkeys need a host name;"),
    ],
)
def test_where_browsers_allow_none_it_says_why(settings, host, secure, words):
    settings.ALLOWED_HOSTS = ["*"]
    reason = why_no_passkeys(RequestFactory().get("/", HTTP_HOST=host, secure=secure))
    assert reason.startswith(words)
    assert bool(reason) is bool(words)


def test_a_passkey_is_made_for_the_name_in_the_address(browser):
    options = browser.get(ADD).context["js_data"]["creation_options"]["publicKey"]
    assert (options["rp"]["id"], options["rp"]["name"]) == ("localhost", "Windowseat")


@pytest.mark.parametrize("answer", NONSENSE)
def test_nonsense_adds_no_passkey(browser, answer):
    browser.get(ADD)
    assert browser.post(ADD, {"credential": answer, "passwordless": "on"}).status_code == 200
    assert not Authenticator.objects.exists()


@pytest.mark.parametrize("answer", NONSENSE)
def test_nonsense_signs_no_one_in(client, ada, answer):
    client.get(LOGIN, headers={"Accept": "application/json"})
    assert client.post(LOGIN, {"credential": answer}).headers["Location"] == "/accounts/login/"
    assert not get_user(client).is_authenticated


@pytest.mark.parametrize("answer", NONSENSE)
def test_nonsense_is_no_second_factor(client, ada, sign_in, answer):
    give_app(confirm(ada))
    sign_in(client, ada.email)
    client.get("/accounts/2fa/authenticate/")
    assert client.post("/accounts/2fa/authenticate/", {"credential": answer}).status_code == 200
    assert not get_user(client).is_authenticated


@pytest.mark.parametrize("answer", NONSENSE)
def test_nonsense_confirms_nothing(browser, answer):
    url = "/accounts/2fa/webauthn/reauthenticate/"
    browser.get(url)
    assert browser.post(url, {"credential": answer}).status_code in (200, 302)
    assert not [record for record in browser.session["account_authentication_methods"] if record["method"] == "mfa"]


def test_a_name_has_its_length(browser):
    browser.get(ADD)
    page = browser.post(ADD, {"credential": "{}", "name": "x" * 1_000}).content.decode()
    assert "at most 60" in page
    page = browser.post(ADD, {"credential": "{}", "name": "\u202e\u200b"}).content.decode()
    assert "at least one character that can be seen" in page


def test_another_users_passkey_is_not_found(browser):
    other = Authenticator.objects.create(
        user=get_user(browser).__class__.objects.create_user("eve@example.org"), type="webauthn", data={"name": "x"}
    )
    for page in ("edit", "remove"):
        assert browser.get(f"/accounts/2fa/webauthn/keys/{other.pk}/{page}/").status_code == 404
        assert browser.post(f"/accounts/2fa/webauthn/keys/{other.pk}/{page}/", {"name": "y"}).status_code == 404


def test_trying_passkeys_has_a_limit(client, db):
    codes = [client.post(LOGIN, {"credential": "{}"}).status_code for _ in range(11)]
    assert codes == [302] * 10 + [429]
