"""How many gate passwords may be tried: so many an hour for one account, and from one address.

An attempt is counted, and the count committed, before its password is looked at. The row's lock makes it exact: of any
number of attempts at once, no more than the limit are looked at. What was right is given back, so that a house full of
people behind one address gets in.
"""

from __future__ import annotations

import datetime as dt
import ipaddress

from django.db import connection
from django.db.models import F
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac

from chatsite.accounts.models import GateAttempts, User

PERIOD = dt.timedelta(hours=1)
MOST_OF_ACCOUNT = 10
MOST_FROM_ADDRESS = 30
IPV6_NETWORK_BITS = 64  # what one customer is given: whoever has one address of it has them all

# Accounts come before addresses in every statement, so two of them never wait for each other.
COUNT = """
INSERT INTO accounts_gateattempts AS attempts (tried_by, began_at, count)
VALUES (%(account)s, statement_timestamp(), 1), (%(address)s, statement_timestamp(), 1)
ON CONFLICT (tried_by) DO UPDATE SET
  began_at = CASE WHEN attempts.began_at > excluded.began_at - %(period)s
                  THEN attempts.began_at ELSE excluded.began_at END,
  count = CASE WHEN attempts.began_at > excluded.began_at - %(period)s THEN attempts.count + 1 ELSE 1 END
RETURNING tried_by, count, began_at
"""


class TooManyAttempts(Exception):
    """No password is looked at before *opens_at*, be it right or wrong."""

    def __init__(self, opens_at: dt.datetime) -> None:
        self.opens_at = opens_at
        super().__init__(f"too many attempts until {opens_at:%H:%M}")


def count_attempt(user: User, address: str) -> None:
    """Count an attempt of *user* from *address*. Raises `TooManyAttempts`."""
    most = {_account(user): MOST_OF_ACCOUNT, _address(address): MOST_FROM_ADDRESS}
    with connection.cursor() as cursor:
        cursor.execute(COUNT, {"account": _account(user), "address": _address(address), "period": PERIOD})
        counted = cursor.fetchall()
    full = [began_at for tried_by, count, began_at in counted if count > most[tried_by]]
    if full:
        raise TooManyAttempts(max(full) + PERIOD)


def give_back_attempt(user: User, address: str) -> None:
    """Forget the attempts of *user*, who knew the password, and this one from *address*."""
    GateAttempts.objects.filter(pk=_account(user)).delete()
    GateAttempts.objects.filter(pk=_address(address), count__gt=0).update(count=F("count") - 1)


def sweep_attempts() -> int:
    """Delete the counts of hours that are over; returns how many."""
    return GateAttempts.objects.filter(began_at__lt=Now() - PERIOD).delete()[0]


def _account(user: User) -> str:
    return f"account {user.pk}"


def _address(address: str) -> str:
    return "address " + salted_hmac("gate attempts", _network_of(address), algorithm="sha256").hexdigest()


def _network_of(address: str) -> str:
    """Return *address*, or the network that it is in where a customer is given a whole one."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:  # a socket without one
        return address
    if parsed.version == 4:
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, IPV6_NETWORK_BITS), strict=False))
