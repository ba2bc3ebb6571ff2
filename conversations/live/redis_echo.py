"""Whether this process hears what is published over Redis: it publishes an echo every two seconds and waits for it.

That Redis answers says little. Its permissions may forbid the topics, a firewall may have forgotten the connection that
listens, or an address may have moved: then what is published vanishes, and no one is told. An echo goes the way of all
frames. The connection over which it comes back is the one over which all sockets of this process and its worker listen.

While it does not come back, all topics are listened to again over new connections.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from typing import Any

from channels.layers import get_channel_layer

from conversations import metrics

logger = logging.getLogger(__name__)

ECHO_SECONDS = 2.0  # from one echo to the next, and so long it may take
MOST_MISSED = 2  # in a row: a Redis that is busy for a second, or a process that stands still, is not deaf


class RedisEcho:
    """The echo of one process. `start` and `drain` belong to the event loop that its sockets and its worker have."""

    def __init__(self) -> None:
        self._topic = f"echo.{uuid.uuid4().hex}"
        self._missed = 0
        self._awaited = ""
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def hears(self) -> bool:
        """False once several echoes in a row have not come back; true where none are sent."""
        return self._missed < MOST_MISSED

    async def start(self) -> None:
        if layer := get_channel_layer():
            self._heard = asyncio.Event()
            channel = await layer.new_channel()
            self._tasks = [
                asyncio.create_task(self._listen_for_ever(layer, channel), name="listen to the echo"),
                asyncio.create_task(self._check_for_ever(layer, channel), name="check the echo"),
            ]

    async def drain(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _listen_for_ever(self, layer: Any, channel: str) -> None:
        while True:
            if (await layer.receive(channel))["echo"] == self._awaited:
                self._heard.set()

    async def _check_for_ever(self, layer: Any, channel: str) -> None:
        while True:
            began = time.monotonic()
            try:
                async with asyncio.timeout(ECHO_SECONDS):
                    await self._hear_echo(layer, channel)
            except Exception as error:  # Redis is away, forbids it, or is silent
                self._note_missed(error)
            else:
                self._note_heard()
            await asyncio.sleep(began + ECHO_SECONDS - time.monotonic())

    async def _hear_echo(self, layer: Any, channel: str) -> None:
        """Publish an echo and wait for it; if the one before was missed, over new connections.

        An echo that comes then tells that all topics are listened to again.
        """
        await (layer.connect_again() if self._missed else layer.group_add(self._topic, channel))
        self._awaited = uuid.uuid4().hex
        self._heard.clear()
        await layer.group_send(self._topic, {"type": "redis.echo", "echo": self._awaited})
        await self._heard.wait()

    def _note_missed(self, error: Exception) -> None:
        self._missed += 1
        if self._missed == MOST_MISSED:
            metrics.redis_degraded.set(1)
            reason = str(error) or "what is published does not arrive"
            logger.warning("other processes are not heard over Redis: %s", reason)

    def _note_heard(self) -> None:
        if not self.hears:
            metrics.redis_degraded.set(0)
            logger.info("other processes are heard over Redis again")
        self._missed = 0


redis_echo = RedisEcho()
