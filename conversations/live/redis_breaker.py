"""Circuit breaker of the way to Redis: after a failure it is not asked for some seconds, and no request waits.

What is lost meanwhile pages ask for again, because PostgreSQL is the only truth.
"""

from __future__ import annotations

import time

PATIENCE_SECONDS = 0.25  # with Redis
AWAY_SECONDS = 2.0  # until it is asked again


class RedisBreaker:
    """Open (`is_open`) while Redis is not to be asked."""

    def __init__(self) -> None:
        self._away_until = 0.0

    @property
    def is_open(self) -> bool:
        return time.monotonic() < self._away_until

    def note_failure(self) -> None:
        self._away_until = time.monotonic() + AWAY_SECONDS


redis_breaker = RedisBreaker()
