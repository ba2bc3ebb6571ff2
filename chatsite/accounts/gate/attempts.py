"""How many gate passwords may be tried: so many an hour for one account, and from one address.

An attempt is counted, and the count committed, before its password is looked at. The row's lock makes it exact: of any
number of attempts at once, no more than the limit are looked at. What was right is given back, so that a house full of
people behind one address gets in.
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
MOST_OF_ACCOUNT = 10
MOST_FROM_ADDRESS = 30
# One line is given at least a /64, so whoever has one address has all of it; one house, at the most, a /48, which
# are 65,536 of these. https://www.rfc-editor.org/rfc/rfc6177 (2026-11-21)
IPV6_NETWORKS = ((64, MOST_FROM_ADDRESS), (48, 10 * MOST_FROM_ADDRESS))

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
    """No password is looked at before *opens_at*, be it right or wrong."""

    def __init__(self, opens_at: dt.datetime) -> None:
        self.opens_at = opens_at
        super().__init__(f"too many attempts until {opens_at:%H:%M}")


def count_attempt(user: User, address: str) -> None:
    """Count an attempt of *user* from *address*. Raises `TooManyAttempts`.

    What is refused for the account counts for no address, or one person could shut out all who come from theirs.
    """
    _count(_account(user), MOST_OF_ACCOUNT)
    for network, most in _networks_of(address):
        _count(_hashed(network), most)


def give_back_attempt(user: User, address: str) -> None:
    """Forget the attempts of *user*, who knew the password, and this one from *address*."""
    GateAttempts.objects.filter(pk=_account(user)).delete()
    for network, _ in _networks_of(address):
        GateAttempts.objects.filter(pk=_hashed(network), count__gt=0).update(count=F("count") - 1)


def sweep_attempts() -> int:
    """Delete the counts of hours that are over; returns how many."""
    return GateAttempts.objects.filter(began_at__lt=Now() - PERIOD).delete()[0]


def _count(tried_by: str, most: int) -> None:
    with connection.cursor() as cursor:
        parameters: dict[str, Any] = {"tried_by": tried_by, "period": PERIOD}  # psycopg writes it as an interval
        cursor.execute(COUNT, parameters)
        count, began_at = cursor.fetchone()
    if count > most:
        raise TooManyAttempts(began_at + PERIOD)


def _account(user: User) -> str:
    return f"account {user.pk}"


def _hashed(network: str) -> str:
    return "address " + salted_hmac("gate attempts", network, algorithm="sha256").hexdigest()


def _networks_of(address: str) -> list[tuple[str, int]]:
    """Return what *address* counts as, each with the most attempts from it, the narrowest first."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:  # a socket without one, or what a proxy writes in the place of one: they are one place together
        return [("", MOST_FROM_ADDRESS)]
    if parsed.version == 6 and parsed.ipv4_mapped:
        parsed = parsed.ipv4_mapped
    if parsed.version == 4:
        return [(str(parsed), MOST_FROM_ADDRESS)]
    return [(str(ipaddress.ip_network((int(parsed), bits), strict=False)), most) for bits, most in IPV6_NETWORKS]
