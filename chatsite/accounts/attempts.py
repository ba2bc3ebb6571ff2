"""Rate limits of attempts, counted exactly in PostgreSQL: at gate passwords, at sign-in, and by anonymous visitors.

An attempt is counted, and the count committed, before what was tried is checked. The row's lock makes it exact: of any
number of attempts at once, no more than the limit are checked. No count is in the cache, so no restart and no second
process gives more attempts, and none is locked out where Redis is away.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import math
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.crypto import salted_hmac

from chatsite.accounts.models import AttemptCount

LONGEST_PERIOD = dt.timedelta(hours=1)
# An internet connection gets at least a /64, so one address means all of it; one site, at the most, a /48, which is
# 65,536 of these. https://www.rfc-editor.org/rfc/rfc6177 (2026-11-21)
IPV6_CONNECTION, IPV6_SITE = 64, 48
CONNECTIONS_OF_A_SITE = 10  # so many times as much is allowed to a /48 as to a /64

COUNT = """
INSERT INTO accounts_attemptcount AS attempts (tried_by, began_at, count)
VALUES (%(tried_by)s, statement_timestamp(), 1)
ON CONFLICT (tried_by) DO UPDATE SET
  began_at = CASE WHEN attempts.began_at > excluded.began_at - %(period)s
                  THEN attempts.began_at ELSE excluded.began_at END,
  count = CASE WHEN attempts.began_at > excluded.began_at - %(period)s THEN attempts.count + 1 ELSE 1 END
RETURNING count, began_at
"""


@dataclass(frozen=True, slots=True)
class Limit:
    """*most* attempts in a *period*, which begins with the first of them and is at most `LONGEST_PERIOD`."""

    most: int
    period: dt.timedelta

    def times(self, factor: int) -> Limit:
        return Limit(self.most * factor, self.period)


class TooManyAttempts(Exception):
    """Nothing is checked before *opens_at*, be it right or wrong. *is_first*: the first refusal of this period."""

    def __init__(self, opens_at: dt.datetime, *, is_first: bool) -> None:
        self.opens_at = opens_at
        self.is_first = is_first
        super().__init__(f"too many attempts until {opens_at:%H:%M}")

    @property
    def wait_seconds(self) -> int:
        return max(1, math.ceil((self.opens_at - timezone.now()).total_seconds()))


def count_attempt(tried_by: str, limit: Limit) -> None:
    """Count an attempt for *tried_by*, a key of at most 90 characters. Raises `TooManyAttempts`."""
    with connection.cursor() as cursor:
        # psycopg writes the period as an interval
        parameters: dict[str, Any] = {"tried_by": tried_by, "period": limit.period}
        cursor.execute(COUNT, parameters)
        count, began_at = cursor.fetchone()
    if count > limit.most:
        raise TooManyAttempts(began_at + limit.period, is_first=count == limit.most + 1)


def count_network_attempt(purpose: str, address: str, limit: Limit) -> None:
    """Count an attempt for the networks of *address*, the narrowest first. Raises `TooManyAttempts`."""
    for network, factor in networks_of(address):
        count_attempt(hashed_key(purpose, network), limit.times(factor))


def refund_attempt(tried_by: str) -> None:
    """Subtract an attempt that was right."""
    AttemptCount.objects.filter(pk=tried_by, count__gt=0).update(count=F("count") - 1)


def refund_network_attempt(purpose: str, address: str) -> None:
    for network, _ in networks_of(address):
        refund_attempt(hashed_key(purpose, network))


def forget_attempts(*tried_by: str) -> None:
    """Delete counts, after the right password."""
    AttemptCount.objects.filter(pk__in=tried_by).delete()


def delete_old_attempts() -> int:
    """Delete the counts of periods that are over; return how many."""
    return AttemptCount.objects.filter(began_at__lt=Now() - LONGEST_PERIOD).delete()[0]


def hashed_key(purpose: str, *values: str) -> str:
    """Return the key of a count that does not show whose it is."""
    return f"{purpose} {salted_hmac(purpose, chr(0).join(values), algorithm='sha256').hexdigest()}"


def network_of(address: str) -> str:
    """Return the network that one internet connection has: an IPv4 address, or an IPv6 /64; "" if it is neither."""
    return networks_of(address)[0][0]


def networks_of(address: str) -> list[tuple[str, int]]:
    """Return the networks that *address* counts for, the narrowest first, each with the factor of its limit."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:  # a socket without an address, or a placeholder of a proxy: they share one count
        return [("", 1)]
    if parsed.version == 6 and parsed.ipv4_mapped:
        parsed = parsed.ipv4_mapped
    if parsed.version == 4:
        return [(str(parsed), 1)]
    factors = {IPV6_CONNECTION: 1, IPV6_SITE: CONNECTIONS_OF_A_SITE}
    return [(str(ipaddress.ip_network((int(parsed), bits), strict=False)), factor) for bits, factor in factors.items()]
