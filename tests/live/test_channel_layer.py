"""The channel layer on a real Redis: messages arrive, and a Redis that does not answer keeps no page out."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from conversations.live.channel_layer import TopicLayer
from tests.faults.processes import RedisProcess
from tests.support.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.redis


@pytest.fixture(scope="module")
def redis(redis_server_path):
    process = RedisProcess(redis_server_path)
    yield process
    process.kill()


@pytest.fixture
def paused_redis(redis):
    os.kill(redis.process.pid, signal.SIGSTOP)
    yield redis
    os.kill(redis.process.pid, signal.SIGCONT)


async def test_messages_of_a_topic_arrive_and_others_do_not(redis):
    layer = TopicLayer(hosts=[redis.url], prefix="windowseat")
    async with asyncio.timeout(PATIENCE_SECONDS):
        channel, other = await layer.new_channel(), await layer.new_channel()
        await layer.group_add("one", channel)
        await layer.group_add("two", other)
        for topic in ("two", "one"):
            await layer.group_send(topic, {"type": "fanout.payload", "payload": topic})
        assert (await layer.receive(channel))["payload"] == "one"
        assert (await layer.receive(other))["payload"] == "two"
        await layer.group_discard("one", channel)
        await layer.flush()


async def test_a_socket_gets_its_channel_while_redis_does_not_answer(paused_redis):
    layer = TopicLayer(hosts=[paused_redis.url], prefix="windowseat")
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert (await layer.new_channel()).startswith("windowseat")
