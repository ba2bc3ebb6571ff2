"""Fan-out (publish and subscribe) of frames to open pages: those of one conversation, or those of one user.

    publish(topic, frame) → every subscriber of this process, directly
                          → Redis, if configured → every subscriber of the other processes

A loss is allowed everywhere here: what a page misses it asks for again, and PostgreSQL is the only truth. Between a
worker and the sockets of its own process there is no channel layer: it cost two thirds of the throughput when measured.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

from conversations.core.frames.definitions import ConversationAwaitsApproval, ConversationWriting, ListChanged
from conversations.core.frames.frame import Frame

from .database_threads import loop_of_thread
from .redis_breaker import AWAY_SECONDS, PATIENCE_SECONDS, redis_breaker
from .redis_echo import redis_echo

logger = logging.getLogger(__name__)
RUNS = "runs"  # the topic on which workers hear of new runs and of stops
DOCUMENTS = "documents"  # … and of documents that are to be read
DOCUMENTS_READ = "documents_read"  # … and replies, that one has been read, or could not be
COUNTS = "counts"  # … and of conversations whose messages are to be counted in another encoding
MESSAGES = "messages"  # … and of messages that are to be indexed
IMPORTS = "imports"  # … and of imports that wait
PROCESS_ID = uuid.uuid4().hex
Deliver = Callable[[str], None]
Event = dict[str, str]  # as the channel layer takes it
SENT_TOGETHER = 500  # events by one round trip
SENDING_SECONDS = 1.0  # nothing waits for it but other events; a busy loop is not a Redis that is away


class Subscriber:
    """A receiver of a topic's payloads. *deliver* is called in the loop that was running at subscription.

    What it raises must not end what publishes, such as a reply, nor keep a payload from other subscribers. So it is
    logged, and *give_up* called, by which a page is closed and comes back for what it missed; without that it goes on.
    """

    def __init__(self, deliver: Deliver, *, give_up: Callable[[], None] | None = None) -> None:
        self._deliver = deliver
        self._give_up = give_up
        self._loop = asyncio.get_running_loop()

    def offer(self, payload: str, running: asyncio.AbstractEventLoop | None) -> None:
        """Hand *payload* over, from any thread, in which the loop *running* runs. Raises nothing."""
        if running is self._loop:
            self._try_to_deliver(payload)
        else:
            with suppress(RuntimeError):  # its loop is closed, maybe just now
                self._loop.call_soon_threadsafe(self._try_to_deliver, payload)

    def _try_to_deliver(self, payload: str) -> None:
        try:
            self._deliver(payload)
        except Exception:
            logger.exception("a subscriber could not take what was published")
            if self._give_up:
                self._give_up()


class OtherProcesses:
    """What other processes publish over Redis, on the topics that are joined: by one channel for all subscribers here.

    A channel for each socket cost as much again for each frame as sending it to the page. Belongs to one event loop.
    """

    def __init__(self, layer: Any) -> None:
        self._layer = layer
        self._channel = ""
        self._topics: set[str] = set()
        self._listening: asyncio.Task[None] | None = None

    async def join(self, topic: str) -> None:
        """Hear *topic* from now on, which has a subscriber in this process."""
        if self._listening is None:
            self._channel = await self._layer.new_channel()
            self._listening = asyncio.create_task(self._listen_for_ever(), name="listen to other processes")
        if topic not in self._topics:
            await self._layer.group_add(topic, self._channel)
            self._topics.add(topic)

    async def leave_unheard(self) -> None:
        """Leave the topics that have no subscriber any more, also of pages that left while Redis was away."""
        for topic in self._topics - _subscribers.keys():
            self._topics.discard(topic)
            await self._layer.group_discard(topic, self._channel)

    async def _listen_for_ever(self) -> None:
        while True:
            try:
                event = await self._layer.receive(self._channel)
                if event["origin"] != PROCESS_ID:
                    offer_here(event["topic"], event["payload"])
            except Exception:  # one event that can't be read, of another version maybe, must not make this process deaf
                logger.exception("what another process has published could not be read")


def other_processes() -> OtherProcesses | None:
    """Return the running event loop's; None where there is no Redis to hear them by."""
    if (layer := get_channel_layer()) is None:
        return None
    return _other_processes.setdefault(asyncio.get_running_loop(), OtherProcesses(layer))


class JoinedTopic:
    """A topic that is heard from other processes for as long as this one runs, joined as soon as Redis lets it.

    `start` and `stop` belong to one event loop. Where other processes are needed (`is_needed`) but not heard now
    (`hears`), its subscribers have to ask.
    """

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self._is_joined = False
        self._joining: asyncio.Task[None] | None = None

    @property
    def is_needed(self) -> bool:
        return get_channel_layer() is not None

    @property
    def hears(self) -> bool:
        return self._is_joined and redis_echo.hears and not redis_breaker.is_open

    def start(self) -> None:
        if others := other_processes():
            self._joining = asyncio.create_task(self._join(others), name=f"join {self._topic}")

    def stop(self) -> None:
        if self._joining:
            self._joining.cancel()

    async def _join(self, others: OtherProcesses) -> None:
        while not self._is_joined:
            try:
                async with asyncio.timeout(AWAY_SECONDS):
                    await others.join(self._topic)
                self._is_joined = True  # whether it stays so the echo tells
            except Exception as error:
                logger.info("other processes are not heard: %s", str(error) or type(error).__name__)
                await asyncio.sleep(AWAY_SECONDS)


_other_processes: WeakKeyDictionary[asyncio.AbstractEventLoop, OtherProcesses] = WeakKeyDictionary()
_subscribers: dict[str, set[Subscriber]] = defaultdict(set)


def subscribe(topic: str, subscriber: Subscriber) -> None:
    _subscribers[topic].add(subscriber)


def unsubscribe(topic: str, subscriber: Subscriber) -> None:
    _subscribers[topic].discard(subscriber)
    if not _subscribers[topic]:
        del _subscribers[topic]


def conversation_topic(public_id: uuid.UUID) -> str:
    return f"conversation.{public_id}"


def person_topic(user_id: int) -> str:
    return f"user.{user_id}"


def publish_frame(frame: Frame, public_id: uuid.UUID) -> None:
    """Send *frame* to all pages that follow the conversation."""
    publish(conversation_topic(public_id), frame.to_json())


def publish_awaiting_approval(public_id: uuid.UUID, owner_id: int, *, awaiting_approval: bool) -> None:
    """Tell every page of its owner whether the conversation is *awaiting_approval* of a tool call."""
    publish(person_topic(owner_id), ConversationAwaitsApproval(public_id, awaiting_approval).to_json())


def publish_writing(public_id: uuid.UUID, owner_id: int, *, writing: bool) -> None:
    """Tell every page of its owner whether a reply in the conversation is being made."""
    publish(person_topic(owner_id), ConversationWriting(public_id, writing).to_json())


def publish_list_change(owner_id: int, public_ids: Iterable[uuid.UUID]) -> None:
    """Tell every page of the owner that these conversations stand elsewhere in the list."""
    publish(person_topic(owner_id), ListChanged(tuple(public_ids)).to_json())


def publish(topic: str, payload: str) -> None:
    """Offer *payload* to the subscribers of *topic* in all processes, from any thread, without waiting for them."""
    offer_here(topic, payload)
    if layer := get_channel_layer():
        _send_to_other_processes(layer, topic, payload)


def offer_here(topic: str, payload: str) -> None:
    """Offer *payload* to the subscribers of *topic* in this process."""
    running = _running_loop()
    for subscriber in tuple(_subscribers.get(topic, ())):
        subscriber.offer(payload, running)


def _send_to_other_processes(layer: Any, topic: str, payload: str) -> None:
    if redis_breaker.is_open:
        return
    event = {"origin": PROCESS_ID, "topic": topic, "payload": payload}
    if loop := _running_loop():
        _outbox_of(loop).put(layer, topic, event)
    elif loop := loop_of_thread():
        loop.call_soon_threadsafe(lambda: _outbox_of(loop).put(layer, topic, event))
    else:
        async_to_sync(_send_or_drop)(layer, [(topic, event)], PATIENCE_SECONDS)


class _Outbox:
    """Events of one event loop for other processes. What comes while some are sent goes together, by one round trip.

    When each was sent by itself, fifty replies that streamed at once waited for one another until Redis seemed away.
    """

    def __init__(self) -> None:
        self._events: list[tuple[str, Event]] = []
        self._sending: asyncio.Task[None] | None = None

    def put(self, layer: Any, topic: str, event: Event) -> None:
        self._events.append((topic, event))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send_all(layer), name="send to other processes")

    async def _send_all(self, layer: Any) -> None:
        while self._events:
            events, self._events = self._events[:SENT_TOGETHER], self._events[SENT_TOGETHER:]
            await _send_or_drop(layer, events, SENDING_SECONDS)


def _outbox_of(loop: asyncio.AbstractEventLoop) -> _Outbox:
    return _outboxes.setdefault(loop, _Outbox())


_outboxes: WeakKeyDictionary[asyncio.AbstractEventLoop, _Outbox] = WeakKeyDictionary()


async def _send_or_drop(layer: Any, events: list[tuple[str, Event]], seconds: float) -> None:
    """Send *events* by Redis. While that is away they are dropped at once, because waiting would hold up all else.

    Pages of other processes heal by asking again.
    """
    if redis_breaker.is_open:
        return
    try:
        async with asyncio.timeout(seconds):
            await layer.send_events(events)
    except Exception as error:
        if redis_echo.hears and not redis_breaker.is_open:
            logger.warning("frames do not reach the other processes: %s", str(error) or type(error).__name__)
        redis_breaker.note_failure()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
