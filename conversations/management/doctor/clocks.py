"""Clocks: this machine's beside those of the database, of Redis and of the provider.

Leases and order depend on the database's alone. Codes of second factors and links that expire depend on this one's.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping

from django.conf import settings
from django.db.utils import Error
from psycopg import Error as PsycopgError

from chatsite.checkup import Line
from chatsite.health.database_probe import connect_briefly

from . import database
from .options import Options
from .provider import provider_time

SUBJECT = "clocks"
MOST_SECONDS, WRONG_SECONDS = 5.0, 30.0  # a code of a second factor holds for thirty
ADVICE = "Set the clock by the network (timedatectl set-ntp true) here and there."


def check_clocks(options: Options) -> Iterator[Line]:
    compared = [each for name, read in CLOCKS.items() if (each := _compare(name, read))]
    yield from compared
    if not compared:
        yield Line("ok", SUBJECT, "There is no other clock to compare this machine's with.")


def _compare(name: str, read: Callable[[], dt.datetime | None]) -> Line | None:
    """Return how far this clock is from the other; None where that can't be asked."""
    before = dt.datetime.now(dt.UTC)
    there = read()
    if there is None:
        return None
    after = dt.datetime.now(dt.UTC)
    seconds = max((before - there).total_seconds(), (there - after).total_seconds(), 0.0)
    if seconds <= MOST_SECONDS:
        return Line("ok", SUBJECT, f"This machine and {name} agree to {seconds:.1f} seconds.")
    text = (
        f"This machine's clock is {seconds:,.0f} seconds {'ahead of' if there < before else 'behind'} that of {name}."
    )
    return Line("bad" if seconds > WRONG_SECONDS else "look", SUBJECT, text, ADVICE)


def _database_time() -> dt.datetime | None:
    if database.is_still_to_be_made():
        return None
    try:
        with connect_briefly() as connection:
            [(seconds,)] = connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
    except (PsycopgError, Error):
        return None
    return dt.datetime.fromtimestamp(seconds, dt.UTC)


def _redis_time() -> dt.datetime | None:
    if not settings.REDIS_URL:
        return None
    import redis

    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=3, socket_connect_timeout=3) as client:
            seconds, microseconds = client.time()
    except (redis.RedisError, OSError, ValueError):
        return None
    return dt.datetime.fromtimestamp(seconds + microseconds / 1_000_000, dt.UTC)


CLOCKS: Mapping[str, Callable[[], dt.datetime | None]] = {
    "the database": _database_time,
    "Redis": _redis_time,
    "the provider": provider_time,
}
