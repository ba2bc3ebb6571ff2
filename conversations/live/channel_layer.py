"""The channel layer, for frames between processes: Redis's pub/sub, asked only for topics that pages listen to."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from channels_redis.pubsub import RedisPubSubChannelLayer, RedisSingleShardConnection
from redis.asyncio.client import PubSub

RECEIVE_SECONDS = 60.0


class TopicLayer(RedisPubSubChannelLayer):  # type: ignore[misc]  # channels_redis has no types
    """The package's layer without a subscription for each socket, as nothing is ever sent to one socket.

    Channels makes a socket's channel before the socket is accepted, and waits for it without an end: while Redis did
    not answer, no page was connected.
    """

    async def new_channel(self, prefix: str = "specific.") -> str:
        layer = self._get_layer()
        channel = f"{layer.prefix}{prefix}{uuid.uuid4().hex}"
        layer.channels[channel] = asyncio.Queue()
        return channel

    async def send_events(self, events: Iterable[tuple[str, Any]]) -> None:
        """Send each event to the group of its topic, all by one round trip. `group_send` takes one for each."""
        layer = self._get_layer()
        [connection] = layer._shards
        await connection.publish_all(
            [(layer._get_group_channel_name(topic), self.serialize(event)) for topic, event in events]
        )

    async def connect_again(self) -> None:
        """Listen to all topics of the running event loop over a new connection, and publish over new ones.

        The package does so only where it sees that a connection has ended. A dead one may stay open for ever, and one
        that was not allowed its topics when it asked for them stays without.
        """
        layer = self._get_layer()
        [connection] = layer._shards
        await connection.replace(_groups_with_listeners(layer))

    def _get_layer(self) -> Any:
        layer = super()._get_layer()
        [connection] = layer._shards
        if not isinstance(connection, TopicConnection):
            layer._shards = [TopicConnection(connection.host, layer)]
        return layer


class TopicConnection(RedisSingleShardConnection):  # type: ignore[misc]
    """The package's connections of one event loop: one that listens to all of its topics, and those that publish."""

    _redis: Any
    _pubsub: Any
    _receive_task: Any

    async def publish_all(self, messages: Iterable[tuple[str, bytes]]) -> None:
        """Publish each message on its channel, in their order."""
        async with self._lock:
            self._ensure_redis()
            pipeline = self._redis.pipeline(transaction=False)
            for channel, message in messages:
                pipeline.publish(channel, message)
            await pipeline.execute()

    async def replace(self, groups: set[str]) -> None:
        """Leave them, and listen to *groups* over a new one."""
        async with self._lock:  # nothing is published meanwhile
            _leave_in_background(self._redis, self._receive_task)
            self._redis = self._pubsub = self._receive_task = None
            self._subscribed_to = set()
            if groups:
                self._ensure_redis()
                self._ensure_receiver()
                await self._pubsub.subscribe(*groups)
                self._subscribed_to = groups

    def _ensure_redis(self) -> None:
        is_new = self._redis is None
        super()._ensure_redis()
        if is_new:
            self._pubsub = PatientPubSub(self._redis.connection_pool)


class PatientPubSub(PubSub):
    """Waits long for each message. The package looks ten times a second, which costs a third of a percent of a core."""

    async def get_message(
        self,
        ignore_subscribe_messages: bool = False,
        timeout: float | None = None,  # noqa: ASYNC109 -- the package's
    ) -> Any:
        return await super().get_message(ignore_subscribe_messages, timeout=RECEIVE_SECONDS)


_leaving: set[asyncio.Task[None]] = set()


def _leave_in_background(redis: Any, receiving: asyncio.Task[None] | None) -> None:
    """End what was receiving and close its connections, which a dead network may keep waiting."""
    task = asyncio.create_task(_leave(redis, receiving))
    _leaving.add(task)  # the loop keeps only a weak reference
    task.add_done_callback(_leaving.discard)


async def _leave(redis: Any, receiving: asyncio.Task[None] | None) -> None:
    if receiving:
        receiving.cancel()
        await asyncio.gather(receiving, return_exceptions=True)
    if redis:
        with suppress(Exception):
            await redis.aclose(close_connection_pool=True)


def _groups_with_listeners(layer: Any) -> set[str]:
    """Return those that any channel is in, and forget channels that ended while they could not leave theirs."""
    for group, channels in tuple(layer.groups.items()):
        channels &= layer.channels.keys()
        if not channels:
            del layer.groups[group]
    return set(layer.groups)
