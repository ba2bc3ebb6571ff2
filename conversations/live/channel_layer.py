"""The channel layer, for frames between processes: Redis's pub/sub, asked only for topics that pages listen to."""

from __future__ import annotations

import asyncio
import uuid

from channels_redis.pubsub import RedisPubSubChannelLayer


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
