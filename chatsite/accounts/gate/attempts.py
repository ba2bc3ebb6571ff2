"""Rate limit of gate passwords: attempts an hour for one account, and from one address.

An attempt with the right password is refunded, so that many users behind one address get in.
"""

from __future__ import annotations

import datetime as dt

from chatsite.accounts import attempts
from chatsite.accounts.attempts import Limit
from chatsite.accounts.models import User

PERIOD = dt.timedelta(hours=1)
MAX_PER_ACCOUNT = 10
MAX_PER_ADDRESS = 30
PURPOSE = "gate"


def count_gate_attempt(user: User, address: str) -> None:
    """Count an attempt of *user* from *address*. Raises `TooManyAttempts`.

    What is refused for the account counts for no address, or one user could lock out all others at their address.
    """
    attempts.count_attempt(_account_key(user), Limit(MAX_PER_ACCOUNT, PERIOD))
    attempts.count_network_attempt(PURPOSE, address, Limit(MAX_PER_ADDRESS, PERIOD))


def refund_gate_attempt(user: User, address: str) -> None:
    """Delete the count of *user*, who gave the right password, and subtract this attempt from those of *address*."""
    attempts.forget_attempts(_account_key(user))
    attempts.refund_network_attempt(PURPOSE, address)


def _account_key(user: User) -> str:
    return f"gate account {user.pk}"
