"""The probe of Redis: whether it answers, and what is published over it arrives in this process.

Without it the site works, and live text of other processes comes later.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings

from .probe import OK, Finding, Probe

ANSWER_SECONDS = 0.5
AWAY = Finding("degraded", "Redis does not answer, so live text comes a little later")
NOT_HEARD = Finding(
    "degraded", "Redis answers, but what is published does not arrive, so live text comes a little later"
)
_hears: list[Callable[[], bool]] = []


def redis_probe() -> Probe:
    return Probe("redis", _look, silence=AWAY)


def register_hearing(hears: Callable[[], bool]) -> None:
    """Let the probe ask *hears* too, which tells at once whether what is published arrives."""
    _hears.append(hears)


def _look() -> Finding:
    import redis  # 9 MB that a site without Redis does without

    client = redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS
    )
    try:
        client.ping()
    except redis.RedisError:
        return AWAY
    finally:
        client.close()
    return OK if all(hears() for hears in _hears) else NOT_HEARD
