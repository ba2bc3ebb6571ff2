"""What is published for other processes goes together, and what they publish is heard while pages follow it."""

from __future__ import annotations

import asyncio

import pytest

from conversations.live import fanout
from conversations.live.redis_breaker import redis_breaker
from conversations.live.redis_echo import MOST_MISSED, redis_echo
from conversations.sockets.subscriptions import Subscriptions
from tests.support.patience import LOOK_AGAIN_SECONDS, PATIENCE_SECONDS
from tests.support.waiting import wait_in_loop


class SlowLayer:
    """Takes events when it is told to."""

    def __init__(self) -> None:
        self.taken: list[list[str]] = []
        self.may_take = asyncio.Event()
        self.is_asked = asyncio.Event()

    async def send_events(self, events):
        self.is_asked.set()
        await self.may_take.wait()
        self.taken.append([event["payload"] for _, event in events])


@pytest.fixture
async def layer(monkeypatch):
    layer = SlowLayer()
    monkeypatch.setattr(fanout, "get_channel_layer", lambda: layer)
    return layer


async def test_what_comes_while_some_is_sent_goes_together(layer):
    fanout.publish("topic", "0")
    await asyncio.wait_for(layer.is_asked.wait(), PATIENCE_SECONDS)
    for number in range(1, 5):
        fanout.publish("topic", str(number))
    layer.may_take.set()
    async with asyncio.timeout(PATIENCE_SECONDS):
        while sum(map(len, layer.taken)) < 5:
            await asyncio.sleep(LOOK_AGAIN_SECONDS)
    assert layer.taken == [["0"], ["1", "2", "3", "4"]]


class Deaf:
    """A subscriber that raises at all that it is given."""

    def __init__(self) -> None:
        self.given_up = 0
        self.subscriber = fanout.Subscriber(self.deliver, give_up=self.give_up)

    def deliver(self, payload: str) -> None:
        raise ValueError(payload)

    def give_up(self) -> None:
        self.given_up += 1


@pytest.fixture
async def deaf_among_others():
    """Two subscribers that raise and two that keep what they hear, of the topic "topic"."""
    deaf, heard = [Deaf(), Deaf()], [[], []]
    subscribers = [each.subscriber for each in deaf] + [fanout.Subscriber(each.append) for each in heard]
    for subscriber in subscribers:
        fanout.subscribe("topic", subscriber)
    yield deaf, heard
    for subscriber in subscribers:
        fanout.unsubscribe("topic", subscriber)


async def test_what_a_subscriber_raises_reaches_neither_the_publisher_nor_the_others(deaf_among_others, caplog):
    deaf, heard = deaf_among_others
    fanout.publish("topic", "hello")
    assert heard == [["hello"], ["hello"]]
    assert [each.given_up for each in deaf] == [1, 1]
    assert [str(record.exc_info[1]) for record in caplog.records] == ["hello", "hello"]


async def test_a_subscriber_that_raises_is_given_up_too_if_another_thread_publishes(deaf_among_others):
    deaf, heard = deaf_among_others
    await asyncio.to_thread(fanout.publish, "topic", "hello")
    await wait_in_loop(lambda: heard == [["hello"], ["hello"]] and [each.given_up for each in deaf] == [1, 1])


async def test_a_subscriber_without_give_up_hears_what_comes_after_its_failure():
    heard = []

    def deliver(payload):
        heard.append(payload)
        if payload == "bad":
            raise ValueError

    fanout.subscribe("topic", subscriber := fanout.Subscriber(deliver))
    for payload in ("bad", "good"):
        fanout.publish("topic", payload)
    fanout.unsubscribe("topic", subscriber)
    assert heard == ["bad", "good"]


def test_a_subscriber_whose_loop_is_closed_keeps_no_publisher_from_going_on():
    async def make():
        return fanout.Subscriber(lambda payload: None)

    with asyncio.Runner() as runner:
        subscriber = runner.run(make())
    subscriber.offer("hello", None)


class Layer:
    """Keeps which topics are listened to, and gives what the test says that others publish."""

    def __init__(self) -> None:
        self.topics: set[str] = set()
        self.events: asyncio.Queue[dict[str, str]] = asyncio.Queue()

    async def new_channel(self) -> str:
        return "channel"

    async def group_add(self, topic: str, channel: str) -> None:
        self.topics.add(topic)

    async def group_discard(self, topic: str, channel: str) -> None:
        self.topics.discard(topic)

    async def receive(self, channel: str) -> dict[str, str]:
        return await self.events.get()


async def test_a_topic_is_heard_for_as_long_as_any_page_follows_it(monkeypatch):
    layer = Layer()
    monkeypatch.setattr(fanout, "get_channel_layer", lambda: layer)
    first_heard, second_heard = asyncio.Queue(), asyncio.Queue()
    first, second = Subscriptions(first_heard.put_nowait), Subscriptions(second_heard.put_nowait)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await first.listen_to("one", "two")
        await second.listen_to("one")
        layer.events.put_nowait({"origin": fanout.PROCESS_ID, "topic": "one", "payload": "its own"})
        layer.events.put_nowait({"origin": "another", "topic": "one", "payload": "hello"})
        assert (await first_heard.get(), await second_heard.get()) == ("hello", "hello")
        await first.listen_to()
        assert layer.topics == {"one"}
        await second.listen_to()
        assert layer.topics == set()


async def test_an_event_that_cannot_be_read_makes_the_process_not_deaf(monkeypatch):
    layer = Layer()
    monkeypatch.setattr(fanout, "get_channel_layer", lambda: layer)
    heard = asyncio.Queue()
    page = Subscriptions(heard.put_nowait)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await page.listen_to("one")
        layer.events.put_nowait({"origin": "another", "payload": "of another version"})
        layer.events.put_nowait({"origin": "another", "topic": "one", "payload": "hello"})
        assert await heard.get() == "hello"
        await page.listen_to()


async def test_topics_of_a_page_that_left_while_redis_was_away_are_left_with_the_next(monkeypatch):
    layer = Layer()
    monkeypatch.setattr(fanout, "get_channel_layer", lambda: layer)
    first, second = Subscriptions(lambda payload: None), Subscriptions(lambda payload: None)
    await first.listen_to("one")
    await second.listen_to("two")
    redis_breaker.note_failure()
    await first.listen_to()
    assert layer.topics == {"one", "two"}
    monkeypatch.setattr(redis_breaker, "_away_until", 0.0)
    await second.listen_to()
    assert layer.topics == set()


async def test_a_page_knows_whether_its_topics_are_listened_to(monkeypatch):
    monkeypatch.setattr(fanout, "get_channel_layer", Layer)
    page = Subscriptions(lambda payload: None)
    redis_breaker.note_failure()
    await page.listen_to("one")
    assert not page.hears_elsewhere
    monkeypatch.setattr(redis_breaker, "_away_until", 0.0)
    await page.listen_to("one")
    assert page.hears_elsewhere
    await page.listen_to()


async def test_a_join_that_takes_too_long_keeps_no_other_page_from_joining_while_the_echo_comes_back(monkeypatch):
    layer = Layer()
    monkeypatch.setattr(fanout, "get_channel_layer", lambda: layer)
    monkeypatch.setattr(redis_breaker, "_away_until", 0.0)
    slow, quick = Subscriptions(lambda payload: None), Subscriptions(lambda payload: None)
    with monkeypatch.context() as patch:
        patch.setattr(Layer, "group_add", take_for_ever)
        await slow.listen_to("one")
    await quick.listen_to("two")
    assert (slow.hears_elsewhere, quick.hears_elsewhere) == (False, True)
    monkeypatch.setattr(redis_echo, "_missed", MOST_MISSED)
    monkeypatch.setattr(Layer, "group_add", take_for_ever)
    await slow.listen_to("one")
    assert redis_breaker.is_open


async def take_for_ever(layer, topic, channel):
    await asyncio.Event().wait()
