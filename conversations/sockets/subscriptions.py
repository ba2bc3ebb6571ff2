"""The topics that one page listens to: in this process by `fanout`, in the others by the channel layer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from conversations.live.fanout import Subscriber, subscribe, unsubscribe
from conversations.live.redis_breaker import PATIENCE_SECONDS, redis_breaker
from conversations.live.redis_echo import redis_echo

logger = logging.getLogger(__name__)


class Subscriptions:
    """The topics of one page. *deliver* is given the payloads of this process, *channel_name* gets those of others.

    Without a *layer* there are no other processes.
    """

    def __init__(self, deliver: Callable[[str], None], *, layer: Any, channel_name: str) -> None:
        self._subscriber = Subscriber(deliver)
        self._layer = layer
        self._channel_name = channel_name
        self._topics: frozenset[str] = frozenset()
        self._topics_elsewhere: frozenset[str] = frozenset()

    async def listen_to(self, *topics: str) -> None:
        """Listen to exactly these *topics* from now on."""
        wanted = frozenset(topics)
        for topic in self._topics - wanted:
            unsubscribe(topic, self._subscriber)
        for topic in wanted - self._topics:
            subscribe(topic, self._subscriber)
        self._topics = wanted
        if self._layer and wanted != self._topics_elsewhere:
            await self._listen_elsewhere(wanted)

    async def _listen_elsewhere(self, topics: frozenset[str]) -> None:
        """Listen to other processes too; while Redis is away it is tried again with the page's next request."""
        if redis_breaker.is_open:
            return
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                for topic in self._topics_elsewhere - topics:
                    await self._layer.group_discard(topic, self._channel_name)
                for topic in topics - self._topics_elsewhere:
                    await self._layer.group_add(topic, self._channel_name)
            self._topics_elsewhere = topics
        except Exception as error:
            if redis_echo.hears and not redis_breaker.is_open:
                logger.warning("a page does not hear the other processes: %s", str(error) or type(error).__name__)
            redis_breaker.note_failure()
