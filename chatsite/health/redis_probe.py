"""The probe of Redis: whether it answers. Without it the site works, and live text of other processes comes later."""

from __future__ import annotations

import redis
from django.conf import settings

from .probe import OK, Finding, Probe

ANSWER_SECONDS = 0.5
AWAY = Finding("degraded", "Redis does not answer, so live text comes a little later")


def redis_probe() -> Probe:
    return Probe("redis", _look, silence=AWAY)


def _look() -> Finding:
    client = redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS
    )
    try:
        client.ping()
    except redis.RedisError:
        return AWAY
    finally:
        client.close()
    return OK
