"""The channel layer on a real Redis: messages arrive, and a Redis that does not answer keeps no page out."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest
from redis import Redis

from conversations import metrics
from conversations.live.channel_layer import TopicLayer
from conversations.live.redis_echo import RedisEcho
from tests.faults.processes import RedisProcess
from tests.support.patience import LOOK_AGAIN_SECONDS, PATIENCE_SECONDS

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


async def test_a_topic_that_was_forbidden_is_heard_once_it_is_connected_to_again(redis):
    layer = TopicLayer(hosts=[redis.url], prefix="windowseat")
    with Redis.from_url(redis.url) as admin:
        async with asyncio.timeout(PATIENCE_SECONDS):
            channel = await layer.new_channel()
            admin.execute_command("ACL", "SETUSER", "default", "resetchannels")
            await layer.group_add("one", channel)  # the refusal comes later, and to no one
            admin.execute_command("ACL", "SETUSER", "default", "allchannels")
            await layer.connect_again()
            await layer.group_send("one", {"type": "fanout.payload", "payload": "one"})
            assert (await layer.receive(channel))["payload"] == "one"
            await layer.flush()


async def test_topics_that_no_channel_listens_to_any_more_are_left(redis):
    layer = TopicLayer(hosts=[redis.url], prefix="windowseat")
    with Redis.from_url(redis.url) as admin:
        async with asyncio.timeout(PATIENCE_SECONDS):
            for topic in ("ended", "open"):
                channel = await layer.new_channel()
                await layer.group_add(topic, channel)
                if topic == "ended":
                    del layer.channels[channel]
            await layer.connect_again()
            while names(admin) != {b"windowseat__group__open"}:
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
            await layer.flush()


def names(admin):
    return {name for name in admin.pubsub_channels() if b"windowseat" in name}


async def test_an_echo_that_is_not_heard_is_told_and_heard_again(redis, monkeypatch):
    monkeypatch.setattr("conversations.live.redis_echo.ECHO_SECONDS", 0.2)
    layer = TopicLayer(hosts=[redis.url], prefix="windowseat")
    monkeypatch.setattr("conversations.live.redis_echo.get_channel_layer", lambda: layer)
    echo = RedisEcho()
    with Redis.from_url(redis.url) as admin:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await echo.start()
            assert echo.hears
            admin.execute_command("ACL", "SETUSER", "default", "resetchannels")
            while echo.hears:
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
            assert metrics.redis_degraded._value.get() == 1
            admin.execute_command("ACL", "SETUSER", "default", "allchannels")
            while not echo.hears:
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
            assert metrics.redis_degraded._value.get() == 0
            await echo.drain()
            await layer.flush()


async def test_without_redis_no_echo_is_sent_and_nothing_is_amiss():
    echo = RedisEcho()
    await echo.start()
    assert echo.hears
    await echo.drain()


async def test_events_that_are_sent_together_arrive_in_their_order(redis):
    layer = TopicLayer(hosts=[redis.url], prefix="windowseat")
    async with asyncio.timeout(PATIENCE_SECONDS):
        channel = await layer.new_channel()
        await layer.group_add("one", channel)
        await layer.send_events([("one", {"number": number}) for number in range(100)])
        assert [(await layer.receive(channel))["number"] for _ in range(100)] == list(range(100))
        await layer.flush()
