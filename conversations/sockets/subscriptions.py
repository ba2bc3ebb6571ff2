"""The topics that one page listens to: what this process publishes on them, and what others do."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from conversations.live.fanout import OtherProcesses, Subscriber, other_processes, subscribe, unsubscribe
from conversations.live.redis_breaker import PATIENCE_SECONDS, redis_breaker
from conversations.live.redis_echo import redis_echo

logger = logging.getLogger(__name__)


NO_TOPICS: frozenset[str] = frozenset()  # one for all pages: each empty set is an object of its own


class Subscriptions:
    """The topics of one page, whose payloads *deliver* is given. If it raises, *give_up* is called."""

    def __init__(self, deliver: Callable[[str], None], *, give_up: Callable[[], None] | None = None) -> None:
        self._subscriber = Subscriber(deliver, give_up=give_up)
        self._elsewhere = other_processes()
        self._topics = NO_TOPICS
        self._topics_elsewhere = NO_TOPICS

    @property
    def hears_elsewhere(self) -> bool:
        """Whether it listens on all of its topics to what other processes publish, where there are any."""
        return self._elsewhere is None or self._topics_elsewhere == self._topics

    def listens_to(self, *topics: str) -> bool:
        """Whether it listens to exactly these *topics* already, also to what other processes publish."""
        return self._topics == frozenset(topics) and self.hears_elsewhere

    async def listen_to(self, *topics: str) -> None:
        """Listen to exactly these *topics* from now on."""
        wanted = frozenset(topics)
        for topic in self._topics - wanted:
            unsubscribe(topic, self._subscriber)
        for topic in wanted - self._topics:
            subscribe(topic, self._subscriber)
        self._topics = wanted
        if self._elsewhere and wanted != self._topics_elsewhere:
            await self._listen_elsewhere(self._elsewhere, wanted)

    async def _listen_elsewhere(self, elsewhere: OtherProcesses, topics: frozenset[str]) -> None:
        """Listen to other processes too; while Redis is away it is tried again with the page's next request."""
        if redis_breaker.is_open:
            return
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                if self._topics_elsewhere - topics:
                    await elsewhere.leave_unheard()
                for topic in topics - self._topics_elsewhere:
                    await elsewhere.join(topic)
            self._topics_elsewhere = topics
        except TimeoutError:
            # While the echo comes back, this event loop is busy, as when many pages come at once: the next one may try.
            if not redis_echo.hears:
                redis_breaker.note_failure()
        except Exception as error:
            if redis_echo.hears and not redis_breaker.is_open:
                logger.warning("a page does not hear the other processes: %s", str(error) or type(error).__name__)
            redis_breaker.note_failure()
