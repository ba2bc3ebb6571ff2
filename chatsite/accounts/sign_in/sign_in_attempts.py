"""Rate limits of wrong passwords at sign-in and reauthentication, by which strangers can't lock the owner out.

    a device that the owner signed in with    its own count alone
    any other                                 account and network, then the network, then the account from all of them

Where the last is used up, the account is not locked but slowed down: one attempt in `SLOW_PERIOD`. Its owner gets in
from a known device all the while, or resets the password by email, which makes the browser a known device.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from allauth.account.utils import filter_users_by_email
from django.http import HttpRequest
from django.utils.translation import ngettext

from chatsite.accounts import attempts
from chatsite.accounts.attempts import Limit, TooManyAttempts, hashed_key, network_of
from chatsite.accounts.models import User
from chatsite.accounts.sign_in.known_device import find_known_device

PER_DEVICE = Limit(5, dt.timedelta(minutes=5))
PER_ACCOUNT_AND_NETWORK = Limit(5, dt.timedelta(minutes=5))
PER_NETWORK = Limit(10, dt.timedelta(minutes=1))
PER_ACCOUNT = Limit(100, dt.timedelta(hours=1))
SLOW_PERIOD = dt.timedelta(seconds=30)
NETWORK_PURPOSE = "sign-in"


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """An attempt to give the password of the account with *email*; *user* is None if there is none."""

    email: str
    address: str
    user: User | None
    device: str | None

    @property
    def account_key(self) -> str:
        """What has no account is counted like one: the limits don't tell the two apart."""
        return f"sign-in account {self.user.pk}" if self.user else hashed_key("sign-in email", self.email)

    @property
    def account_and_network_key(self) -> str:
        return hashed_key("sign-in from", self.account_key, network_of(self.address))

    @property
    def slow_key(self) -> str:
        return f"slow {self.account_key}"


def begin_attempt(request: HttpRequest, email: str) -> SignInAttempt:
    """Return the attempt of *request*, not counted yet."""
    user = next(iter(filter_users_by_email(email, prefer_verified=True)), None)
    device = find_known_device(request, user) if user else None
    return SignInAttempt(email.lower(), request.META.get("REMOTE_ADDR", ""), user, device)


def count_sign_in_attempt(attempt: SignInAttempt) -> None:
    """Count the attempt before its password is checked. Raises `TooManyAttempts`.

    What is refused by a narrower limit counts for no wider one: only attempts that are checked slow an account down.
    """
    if attempt.device:
        attempts.count_attempt(_device_key(attempt.device), PER_DEVICE)
        return
    attempts.count_attempt(attempt.account_and_network_key, PER_ACCOUNT_AND_NETWORK)
    attempts.count_network_attempt(NETWORK_PURPOSE, attempt.address, PER_NETWORK)
    try:
        attempts.count_attempt(attempt.account_key, PER_ACCOUNT)
    except TooManyAttempts:
        attempts.count_attempt(attempt.slow_key, Limit(1, SLOW_PERIOD))


def refund_sign_in_attempt(attempt: SignInAttempt) -> None:
    """Take the attempt back, whose password was right.

    The counts of the account from elsewhere stay: what others tried is no less for it.
    """
    if attempt.device:
        attempts.forget_attempts(_device_key(attempt.device))
        return
    attempts.forget_attempts(attempt.account_and_network_key)
    attempts.refund_network_attempt(NETWORK_PURPOSE, attempt.address)
    attempts.refund_attempt(attempt.account_key)


def forget_sign_in_attempts(attempt: SignInAttempt) -> None:
    """Delete the counts of an account whose password was reset by the link in an email."""
    attempts.forget_attempts(attempt.account_and_network_key, attempt.account_key, attempt.slow_key)


def too_many_attempts_sentence(seconds: int) -> str:
    sentence = ngettext(
        "Too many attempts. Try again in %(seconds)d second.",
        "Too many attempts. Try again in %(seconds)d seconds.",
        seconds,
    )
    return sentence % {"seconds": seconds}


def _device_key(device: str) -> str:
    return f"sign-in device {device}"
