"""A topic that is heard for a while, from this process and, over Redis, from others: of one reader that is no page."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from django.conf import settings

from .fanout import JoinedTopic, Subscriber, other_processes, subscribe, unsubscribe
from .redis_breaker import PATIENCE_SECONDS

logger = logging.getLogger(__name__)


class HeardTopic:
    """*deliver* is called with each payload, in the loop in which this was made, from `start` to `stop`."""

    def __init__(self, topic: str, deliver: Callable[[str], None]) -> None:
        self._topic = topic
        self._subscriber = Subscriber(deliver)
        self._elsewhere = JoinedTopic(topic)
        self._leaving: asyncio.Task[None] | None = None

    @property
    def hears(self) -> bool:
        """Whether what workers publish reaches this process now. Otherwise one has to ask."""
        if self._elsewhere.is_needed:
            return self._elsewhere.hears
        return bool(settings.RUN_WORKER) and settings.PROCESSES == 1

    def start(self) -> None:
        subscribe(self._topic, self._subscriber)
        self._elsewhere.start()

    def stop(self) -> None:
        unsubscribe(self._topic, self._subscriber)
        self._elsewhere.stop()
        if self._elsewhere.is_needed:
            self._leaving = asyncio.create_task(_leave_unheard(), name=f"leave {self._topic}")


async def _leave_unheard() -> None:
    if others := other_processes():
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await others.leave_unheard()
        except Exception as error:  # it is left with the next one
            logger.info("a topic could not be left: %s", str(error) or type(error).__name__)
