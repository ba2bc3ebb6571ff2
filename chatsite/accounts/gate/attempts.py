"""Rate limit of gate passwords: attempts an hour for one account, and from one address.

An attempt is counted, and the count committed, before its password is checked. The row's lock makes it exact: of any
number of attempts at once, no more than the limit are checked. An attempt with the right password is refunded, so that
many users behind one address get in.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
from typing import Any

from django.db import connection
from django.db.models import F
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac

from chatsite.accounts.models import GateAttempts, User

PERIOD = dt.timedelta(hours=1)
MAX_PER_ACCOUNT = 10
MAX_PER_ADDRESS = 30
# An internet connection gets at least a /64, so one address means all of it; one site, at the most, a /48, which is
# 65,536 of these. https://www.rfc-editor.org/rfc/rfc6177 (2026-11-21)
IPV6_NETWORKS = ((64, MAX_PER_ADDRESS), (48, 10 * MAX_PER_ADDRESS))

COUNT = """
INSERT INTO accounts_gateattempts AS attempts (tried_by, began_at, count)
VALUES (%(tried_by)s, statement_timestamp(), 1)
ON CONFLICT (tried_by) DO UPDATE SET
  began_at = CASE WHEN attempts.began_at > excluded.began_at - %(period)s
                  THEN attempts.began_at ELSE excluded.began_at END,
  count = CASE WHEN attempts.began_at > excluded.began_at - %(period)s THEN attempts.count + 1 ELSE 1 END
RETURNING count, began_at
"""


class TooManyAttempts(Exception):
    """No password is checked before *opens_at*, be it right or wrong."""

    def __init__(self, opens_at: dt.datetime) -> None:
        self.opens_at = opens_at
        super().__init__(f"too many attempts until {opens_at:%H:%M}")


def count_attempt(user: User, address: str) -> None:
    """Count an attempt of *user* from *address*. Raises `TooManyAttempts`.

    What is refused for the account counts for no address, or one user could lock out all others at their address.
    """
    _count(_account_key(user), MAX_PER_ACCOUNT)
    for network, most in _networks(address):
        _count(_network_key(network), most)


def refund_attempt(user: User, address: str) -> None:
    """Delete the count of *user*, who gave the right password, and subtract this attempt from those of *address*."""
    GateAttempts.objects.filter(pk=_account_key(user)).delete()
    for network, _ in _networks(address):
        GateAttempts.objects.filter(pk=_network_key(network), count__gt=0).update(count=F("count") - 1)


def delete_old_attempts() -> int:
    """Delete the counts of past hours; return how many."""
    return GateAttempts.objects.filter(began_at__lt=Now() - PERIOD).delete()[0]


def _count(tried_by: str, most: int) -> None:
    with connection.cursor() as cursor:
        parameters: dict[str, Any] = {"tried_by": tried_by, "period": PERIOD}  # psycopg writes it as an interval
        cursor.execute(COUNT, parameters)
        count, began_at = cursor.fetchone()
    if count > most:
        raise TooManyAttempts(began_at + PERIOD)


def _account_key(user: User) -> str:
    return f"account {user.pk}"


def _network_key(network: str) -> str:
    return "address " + salted_hmac("gate attempts", network, algorithm="sha256").hexdigest()


def _networks(address: str) -> list[tuple[str, int]]:
    """Return the networks that *address* counts for, the narrowest first, each with its limit."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:  # a socket without an address, or a placeholder of a proxy: they share one count
        return [("", MAX_PER_ADDRESS)]
    if parsed.version == 6 and parsed.ipv4_mapped:
        parsed = parsed.ipv4_mapped
    if parsed.version == 4:
        return [(str(parsed), MAX_PER_ADDRESS)]
    return [(str(ipaddress.ip_network((int(parsed), bits), strict=False)), most) for bits, most in IPV6_NETWORKS]
