"""Wrong passwords: exact limits, which no stranger can use to lock the owner out."""

from __future__ import annotations

import datetime as dt

import pytest
from django.conf import settings as site_settings
from django.contrib.auth import get_user
from django.core import signing
from django.test import Client
from django.utils import timezone

from chatsite.accounts.attempts import TooManyAttempts, delete_old_attempts
from chatsite.accounts.models import AttemptCount, User
from chatsite.accounts.sign_in import sign_in_attempts
from chatsite.accounts.sign_in.known_device import SALT
from chatsite.accounts.sign_in.sign_in_attempts import (
    PER_ACCOUNT,
    PER_ACCOUNT_AND_NETWORK,
    PER_NETWORK,
    SLOW_PERIOD,
    SignInAttempt,
    count_sign_in_attempt,
    refund_sign_in_attempt,
)
from tests.accounts.conftest import PASSWORD
from tests.support.concurrent_users import at_once
from tests.support.people import make_user

pytestmark = pytest.mark.django_db
HERE = "203.0.113.9"
TOO_MANY = "Too many attempts. Try again in"
DEVICE = site_settings.KNOWN_DEVICE_COOKIE_NAME


def stranger(number: int) -> Client:
    return Client(REMOTE_ADDR=f"198.51.{100 + number // 250}.{number % 250}")


def attempt(user=None, address=HERE, *, email="x@example.org", device=None) -> bool:
    """Return whether the password of the attempt is checked."""
    try:
        count_sign_in_attempt(SignInAttempt(email, address, user, device))
    except TooManyAttempts:
        return False
    return True


def attack(user, wrong=PER_ACCOUNT.most) -> list[bool]:
    """Try wrong passwords from as many addresses."""
    return [attempt(user, f"198.51.{100 + number // 250}.{number % 250}") for number in range(wrong)]


def let_pass(period: dt.timedelta) -> None:
    for row in AttemptCount.objects.all():
        AttemptCount.objects.filter(pk=row.pk).update(began_at=row.began_at - period - dt.timedelta(seconds=1))


# The owner


@pytest.mark.parametrize("address", [HERE, "127.0.0.1"])
def test_a_known_device_gets_in_whatever_others_try(ada, sign_in, address):
    """Also where they share its address."""
    sign_in(browser := Client(REMOTE_ADDR=address), ada.email)
    browser.post("/accounts/logout/")
    for number in range(12):
        sign_in(Client(), ada.email, "guess")
        sign_in(stranger(number), ada.email, "guess")
    sign_in(browser, ada.email)
    assert get_user(browser) == ada


def test_the_owner_gets_in_from_an_address_that_only_they_try(ada, sign_in):
    for number in range(20):
        sign_in(stranger(number), ada.email, "guess")
    for _ in range(10):
        sign_in(Client(), ada.email, "guess")
    sign_in(browser := Client(REMOTE_ADDR=HERE), ada.email)
    assert get_user(browser) == ada


def test_an_account_under_attack_is_slowed_down_and_not_locked(ada, sign_in):
    assert all(attack(ada))
    assert attempt(ada, HERE)  # one more in each half minute
    browser = Client(REMOTE_ADDR=HERE)
    assert TOO_MANY in sign_in(browser, ada.email).text
    let_pass(SLOW_PERIOD)
    sign_in(browser, ada.email)
    assert get_user(browser) == ada


def test_what_is_told_is_how_many_seconds(ada):
    assert all(attack(ada))
    attempt(ada)
    with pytest.raises(TooManyAttempts) as refusal:
        count_sign_in_attempt(SignInAttempt(ada.email, "192.0.2.1", ada, None))
    assert 1 <= refusal.value.wait_seconds <= SLOW_PERIOD.total_seconds() + 1


def test_a_reset_by_mail_makes_the_browser_known(ada, mailed_path, sign_in):
    assert all(attack(ada))
    browser = Client(REMOTE_ADDR=HERE)
    browser.post("/accounts/password/reset/", {"email": ada.email})
    page = browser.get(mailed_path(), follow=True).request["PATH_INFO"]
    browser.post(page, {"password1": "another-horse-battery", "password2": "another-horse-battery"})
    let_pass(PER_ACCOUNT_AND_NETWORK.period)
    attack(ada, PER_ACCOUNT.most + 1)
    assert not attempt(ada, "192.0.2.1")  # it is slow again for others
    sign_in(browser, ada.email, "another-horse-battery")
    assert get_user(browser) == ada


def test_where_mail_is_sent_the_way_by_mail_is_named(ada, sign_in, settings):
    settings.SMTP_URL = "smtps://mail.example.org"
    for _ in range(6):
        page = sign_in(Client(), ada.email, "guess").text
    assert "sent by email" in page


def test_a_change_of_password_keeps_the_device_and_ends_the_others(ada, sign_in):
    sign_in(here := Client(), ada.email)
    sign_in(elsewhere := Client(), ada.email)
    form = {"oldpassword": PASSWORD, "password1": "another-horse-battery", "password2": "another-horse-battery"}
    here.post("/accounts/password/change/", form)
    ada.refresh_from_db()
    request = type("Request", (), {})()
    known = []
    for browser in (here, elsewhere):
        request.COOKIES = {name: cookie.value for name, cookie in browser.cookies.items()}
        known.append(sign_in_attempts.find_known_device(request, ada) is not None)
    assert known == [True, False]


# The device


@pytest.mark.parametrize(
    "forged",
    [
        "",
        "x",
        "x:y:z",
        signing.dumps({"user": 1, "device": "d"}, salt=SALT),
        signing.dumps([1], salt=SALT),
        signing.dumps({"user": 1, "device": "d", "password": "x"}, salt="another"),
    ],
    ids=[
        "empty",
        "short",
        "three parts",
        "no password",
        "no device",
        "another salt",
    ],  # signed ones have the time in them
)
def test_a_forged_cookie_is_no_device(ada, sign_in, forged):
    for _ in range(5):
        sign_in(Client(), ada.email, "guess")
    browser = Client()
    browser.cookies[DEVICE] = forged
    assert TOO_MANY in sign_in(browser, ada.email).text


def test_a_device_of_one_account_is_none_of_another(ada, sign_in):
    bob = make_user("bob")
    bob.set_password(PASSWORD)
    bob.save()
    sign_in(browser := Client(), bob.email)
    browser.post("/accounts/logout/")
    for _ in range(5):
        sign_in(browser, ada.email, "guess")
    assert TOO_MANY in sign_in(browser, ada.email).text


def test_a_known_device_has_five_tries_of_its_own(ada, sign_in):
    sign_in(browser := Client(), ada.email)
    browser.post("/accounts/logout/")
    for _ in range(5):
        assert TOO_MANY not in sign_in(browser, ada.email, "guess").text
    assert TOO_MANY in sign_in(browser, ada.email).text
    assert AttemptCount.objects.get(pk__startswith="sign-in device").count == 6
    others = AttemptCount.objects.filter(pk__startswith="sign-in ").exclude(pk__startswith="sign-in device")
    assert {row.count for row in others} == {0}  # since the first sign-in, which made the device known


def test_the_cookie_is_kept_from_scripts_and_opens_nothing(ada, sign_in):
    cookie = sign_in(Client(), ada.email).cookies[DEVICE]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    browser = Client()
    browser.cookies[DEVICE] = cookie.value
    assert not get_user(browser).is_authenticated


def test_reauthentication_has_the_same_limits(ada, sign_in):
    sign_in(browser := Client(), ada.email)
    pages = [browser.post("/accounts/reauthenticate/", {"password": "guess"}).text for _ in range(6)]
    assert [TOO_MANY in page for page in pages] == [False] * 5 + [True]


# The counts


def test_an_account_has_five_tries_from_one_network(ada):
    assert [attempt(ada) for _ in range(7)] == [True] * PER_ACCOUNT_AND_NETWORK.most + [False] * 2
    let_pass(PER_ACCOUNT_AND_NETWORK.period)
    assert attempt(ada)


def test_a_network_has_ten_tries_over_all_accounts(db):
    tried = [attempt(email=f"person{number}@example.org") for number in range(12)]
    assert tried == [True] * PER_NETWORK.most + [False] * 2


def test_a_64_is_one_network(ada):
    assert [attempt(ada, f"2001:db8:1:2::{number}") for number in range(7)] == [True] * 5 + [False] * 2
    assert attempt(ada, "2001:db8:1:3::1")


def test_what_has_no_account_is_limited_like_one(ada):
    assert [attempt() for _ in range(6)] == [attempt(ada, "192.0.2.1") for _ in range(6)]


def test_who_knows_the_password_takes_nothing_from_others_at_the_address(db):
    for number in range(PER_NETWORK.most + 5):
        own = SignInAttempt(f"person{number}@example.org", HERE, None, None)
        count_sign_in_attempt(own)
        refund_sign_in_attempt(own)
    assert attempt(email="last@example.org")


def test_the_right_password_leaves_what_others_tried(ada):
    attack(ada, 50)
    own = SignInAttempt(ada.email, HERE, ada, None)
    count_sign_in_attempt(own)
    refund_sign_in_attempt(own)
    assert AttemptCount.objects.get(pk=own.account_key).count == 50


def test_no_address_is_kept(ada):
    attempt(ada)
    attempt(email="x@example.org")
    kept = " ".join(AttemptCount.objects.values_list("tried_by", flat=True))
    assert HERE not in kept
    assert "example.org" not in kept


def test_counts_are_swept(ada):
    attempt(ada)
    let_pass(dt.timedelta(hours=1))
    assert delete_old_attempts() == 3


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("accounts", "addresses", "checked"),
    [(1, 1, PER_ACCOUNT_AND_NETWORK.most), (200, 1, PER_NETWORK.most), (1, 200, PER_ACCOUNT.most + 1)],
)
def test_of_many_at_once_exactly_the_limit_is_checked(ada, accounts, addresses, checked):
    """The one more is the first of the slow ones."""

    def knock(thread):
        numbers = range(thread, 200, 20)
        return sum(
            attempt(ada if accounts == 1 else None, f"198.51.100.{n % addresses}", email=f"p{n % accounts}@example.org")
            for n in numbers
        )

    began = timezone.now()
    assert sum(at_once(knock, range(20))) == checked
    assert timezone.now() - began < SLOW_PERIOD
    assert User.objects.count() == 1
