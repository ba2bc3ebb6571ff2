"""Abuse: guessing passwords, listing accounts and timing attacks, with many attempts."""

from __future__ import annotations

import logging
import statistics
import time

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.core import mail
from django.core.cache import cache
from django.test import Client

from chatsite.accounts.models import AttemptCount, User
from tests.accounts.conftest import PASSWORD
from tests.accounts.factors import code_of, confirm, give_app, wrong_code
from tests.support.concurrent_users import at_once
from tests.support.site_commands import read_settings

pytestmark = pytest.mark.django_db
AT_ONCE = 100
RESET, LOGIN = "/accounts/password/reset/", "/accounts/login/"


@pytest.fixture
def looked_at(monkeypatch) -> list[str]:
    """The passwords that were compared with a user's."""
    seen: list[str] = []
    check = User.check_password

    def note(self: User, password: str) -> bool:
        seen.append(password)
        return check(self, password)

    monkeypatch.setattr(User, "check_password", note)
    return seen


@pytest.mark.django_db(transaction=True)
def test_of_thirty_passwords_at_once_five_are_looked_at(ada, sign_in, looked_at):
    at_once(lambda number: sign_in(Client(), ada.email, f"guess {number}"), range(30))  # more are refused before
    assert len(looked_at) == 5


@pytest.mark.django_db(transaction=True)
def test_of_a_hundred_from_one_address_ten_are_looked_at(db, sign_in, looked_at):
    for number in range(AT_ONCE):
        User.objects.create_user(f"person{number}@example.org", PASSWORD)
    at_once(lambda number: sign_in(Client(), f"person{number}@example.org", "guess"), range(AT_ONCE))
    assert len(looked_at) == 10


@pytest.mark.django_db(transaction=True)
def test_of_fifty_codes_at_once_five_are_looked_at(ada, sign_in, monkeypatch):
    give_app(confirm(ada))
    seen = []
    monkeypatch.setattr("allauth.mfa.totp.internal.auth.validate_totp_code", lambda *tried: bool(seen.append(tried)))
    browsers = [Client(REMOTE_ADDR=f"198.51.100.{number}") for number in range(50)]
    for browser in browsers:
        sign_in(browser, ada.email)
    code = wrong_code()
    at_once(lambda browser: browser.post("/accounts/2fa/authenticate/", {"code": code}), browsers)
    assert 1 <= len(seen) <= 5


# Who has an account is not told to others


def test_a_reset_answers_the_same_for_everyone(ada):
    answers = [Client().post(RESET, {"email": email}) for email in (ada.email, "nobody@example.org")]
    assert {answer.headers["Location"] for answer in answers} == {f"{RESET}done/"}
    assert [sent.to for sent in mail.outbox] == [[ada.email], ["nobody@example.org"]]


def test_a_closed_site_sends_no_mail_to_strangers(ada, settings):
    settings.ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
    answers = [Client().post(RESET, {"email": email}) for email in (ada.email, "nobody@example.org")]
    assert {answer.headers["Location"] for answer in answers} == {f"{RESET}done/"}
    assert [sent.to for sent in mail.outbox] == [[ada.email]]


@pytest.mark.parametrize(("sign_up", "is_mailed"), [("open", True), ("invitation", False), ("closed", False)])
def test_strangers_are_mailed_only_where_they_may_sign_up(tmp_path, sign_up, is_mailed):
    assert read_settings("ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS", VAR_DIR=tmp_path, SIGN_UP=sign_up) == (is_mailed,)


def test_resets_of_one_address_are_limited_wherever_they_are_asked_for(ada):
    answers = [Client(REMOTE_ADDR=f"198.51.100.{n}").post(RESET, {"email": ada.email}).status_code for n in range(6)]
    assert answers == [302] * 5 + [429]


def test_resets_from_one_address_are_limited_over_all_accounts(client, db):
    answers = [client.post(RESET, {"email": f"person{n}@example.org"}).status_code for n in range(21)]
    assert answers == [302] * 20 + [429]


@pytest.mark.parametrize("header", ["HTTP_X_FORWARDED_FOR", "HTTP_X_REAL_IP", "HTTP_FORWARDED"])
@pytest.mark.parametrize(
    ("address", "field", "most"), [(RESET, "email", 20), ("/accounts/signup/", "email", 20), (LOGIN, "login", 30)]
)
def test_a_forged_address_gives_no_more_tries(client, db, header, address, field, most):
    tries = [
        client.post(address, {field: f"person{number}@example.org"}, **{header: f"198.51.100.{number}"}).status_code
        for number in range(most + 1)
    ]
    assert 429 not in tries[:-1]
    assert tries[-1] == 429


def test_where_mail_is_confirmed_a_sign_up_answers_the_same_for_everyone(ada, sign_up, settings):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    answers = [sign_up(Client(), email) for email in (ada.email, "new@example.org")]
    assert {answer.headers["Location"] for answer in answers} == {"/accounts/confirm-email/"}
    assert User.objects.count() == 2


def test_a_sign_up_with_a_known_address_hashes_as_many_passwords(ada, sign_up, settings, monkeypatch):
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    hashed, encode = [], MD5PasswordHasher.encode
    monkeypatch.setattr(MD5PasswordHasher, "encode", lambda *args: hashed.append(args) or encode(*args))
    counts = []
    for email in (ada.email, "new@example.org"):
        hashed.clear()
        sign_up(Client(), email)
        counts.append(len(hashed))
    assert counts == [1, 1]


def test_an_unknown_address_takes_as_long_as_a_wrong_password(ada, sign_in, settings, site_hashers):
    settings.PASSWORD_HASHERS = site_hashers
    ada.set_password(PASSWORD)
    ada.save()
    took = {ada.email: [], "nobody@example.org": []}
    for _ in range(8):
        for email, times in took.items():
            cache.clear()
            AttemptCount.objects.all().delete()
            began = time.thread_time()
            sign_in(Client(), email, "guess")
            times.append(time.thread_time() - began)
    known, unknown = (statistics.median(times) for times in took.values())
    assert 0.5 < known / unknown < 2


def test_a_wrong_password_of_someone_with_a_second_factor_looks_like_any(ada, sign_in):
    give_app(confirm(ada))
    bob = confirm(User.objects.create_user("bob@example.org", PASSWORD))
    answers = [sign_in(Client(), email, "guess") for email in (ada.email, bob.email)]
    assert [answer.status_code for answer in answers] == [200, 200]


# What was typed stays out of logs and addresses


def test_passwords_and_codes_are_in_no_log_and_no_address(ada, sign_in, caplog):
    give_app(confirm(ada))
    with caplog.at_level(logging.DEBUG):
        answers = [
            sign_in(client := Client(), ada.email, "guess-with-a-secret"),
            sign_in(client, ada.email),
            client.post("/accounts/2fa/authenticate/", {"code": "987654"}),
            client.post("/accounts/2fa/authenticate/", {"code": code_of()}),
        ]
    written = caplog.text + "".join(answer.headers.get("Location", "") for answer in answers)
    assert not any(secret in written for secret in ("guess-with-a-secret", PASSWORD, "987654"))
