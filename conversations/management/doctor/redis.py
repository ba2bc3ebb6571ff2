"""Redis, where one is set: reachable, its password, whether what is published arrives, and its memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from chatsite.checkup import Line

from .options import Options

SUBJECT = "redis"
ANSWER_SECONDS = 3.0
ECHO_SECONDS = 2.0
TOPIC = "windowseat.doctor"
RIGHTS = "Its user needs the commands PUBLISH, SUBSCRIBE, UNSUBSCRIBE and PING, and the channels windowseat*."
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
NEARLY_FULL = 0.9


def check_redis(options: Options) -> Iterator[Line]:
    if settings.REDIS_URL:
        yield from _check(settings.REDIS_URL)
    elif settings.RUN_WORKER:
        yield Line("ok", SUBJECT, "None is set, and none is needed: one process serves pages and makes replies.")
    else:
        text = "RUN_WORKER is off and REDIS_URL is empty: replies arrive in jerks, because pages have to ask for them."
        yield Line("look", SUBJECT, text, "Set REDIS_URL for all processes, or RUN_WORKER=on.")


def _check(url: str) -> Iterator[Line]:
    import redis  # 9 MB that a site without Redis does without

    try:
        client = redis.Redis.from_url(url, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS)
    except ValueError:
        yield Line(
            "bad", SUBJECT, "REDIS_URL can't be read.", "Write it as redis://:password@host:6379/0, or rediss://."
        )
        return
    try:
        client.ping()
        yield from _look(client, urlsplit(url))
    except redis.AuthenticationError:
        advice = "Correct the password in REDIS_URL: redis://:password@host, special characters as %XX."
        yield Line("bad", SUBJECT, "Redis refuses the user or password.", advice)
    except redis.exceptions.NoPermissionError:
        yield Line("bad", SUBJECT, "Redis forbids its user something.", RIGHTS)
    except (redis.RedisError, OSError) as error:
        advice = (
            "See that it runs, that REDIS_URL has the right host and port, and that no firewall is between. "
            "Meanwhile the site works, and live text comes later."
        )
        yield Line("bad", SUBJECT, f"Redis does not answer: {error}", advice)
    finally:
        client.close()


def _look(client: Any, address: Any) -> Iterator[Line]:
    if _echoes(client):
        yield Line("ok", SUBJECT, "It answers, and what is published arrives.")
    else:
        yield Line("bad", SUBJECT, "It answers, but what is published does not arrive.", RIGHTS)
    if not address.password and address.scheme != "unix" and address.hostname not in LOCAL_HOSTS:
        text = (
            "It takes connections without a password; who reaches it reads what is being written in all conversations."
        )
        yield Line("look", SUBJECT, text, "Set requirepass in Redis, and the password in REDIS_URL.")
    yield from _check_memory(client)


def _echoes(client: Any) -> bool:
    """Tell whether a message comes back over a subscription."""
    listener = client.pubsub(ignore_subscribe_messages=True)
    try:
        listener.subscribe(TOPIC)
        listener.get_message(timeout=ECHO_SECONDS)  # that it listens
        client.publish(TOPIC, b"heard?")
        end = time.monotonic() + ECHO_SECONDS
        while time.monotonic() < end:
            if listener.get_message(timeout=ECHO_SECONDS):
                return True
        return False
    finally:
        listener.close()


def _check_memory(client: Any) -> Iterator[Line]:
    """Look at memory and eviction policy, where the user may. Nothing of ours is a key, so any policy will do."""
    import redis

    try:
        memory = client.info("memory")
    except redis.RedisError:
        return
    most, used = memory.get("maxmemory", 0), memory.get("used_memory", 0)
    if most and used > NEARLY_FULL * most:
        told = f"{used / 2**20:,.0f} of {most / 2**20:,.0f} MB; policy {memory.get('maxmemory_policy')}"
        text = f"Its memory is nearly full ({told})."
        yield Line(
            "look", SUBJECT, text, "Windowseat keeps nothing in it: see which other program does, or raise maxmemory."
        )
