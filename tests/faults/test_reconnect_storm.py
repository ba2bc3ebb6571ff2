"""The web process is killed with many pages open: all come back by the page's own rule, and find what is stored.

`make faults` does it with 500 sockets. Pages wait as `static/js/server/socket.js` lets them.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from contextlib import suppress
from random import Random

import psutil
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from tests.support.patience import PATIENCE_SECONDS

from .conftest import REPEATS_ALL, checked
from .goals import ALL_PAGES_BACK, PAGES_BACK, PAGES_BACK_CPU, PAGES_BACK_PEAK, SNAPSHOT_IN_STORM, percentile_95
from .oracles import check_acknowledged
from .pages import STEADY_AFTER, pause_after

PEOPLE, CONVERSATIONS_EACH = 10, 2
SOCKETS = 500 if REPEATS_ALL else 50
SOCKETS_EACH = SOCKETS // PEOPLE
SAMPLE_SECONDS = 0.5
IDS = """
SELECT id FROM conversations_message WHERE active
AND conversation_id = (SELECT id FROM conversations_conversation WHERE public_id = %s) ORDER BY position
"""


@pytest.fixture(scope="module")
def storm_site(make_site):
    with make_site(RUN_WORKER="off", SOCKETS_PER_USER=str(SOCKETS_EACH + 10)) as site:
        site.serve()
        site.run_worker()
        yield site


@pytest.fixture
def site(storm_site):
    with checked(storm_site):
        yield storm_site


@pytest.fixture
def pages(site, chance):
    """Pages of several people, some at the same conversation; each conversation has a message and its reply."""
    site.answer_with("ok")
    pages = []
    for _ in range(PEOPLE):
        browser = site.sign_up()
        conversations = [site.begin(browser) for _ in range(CONVERSATIONS_EACH)]
        for conversation in conversations:
            assert browser.post(conversation, f"Remember {conversation}")[0] == 201
        pages += [
            StormPage(browser, conversations[number % CONVERSATIONS_EACH], Random(chance.getrandbits(64)))
            for number in range(SOCKETS_EACH)
        ]
    site.wait_until_quiet()
    return pages


class StormPage:
    """A page that connects again and again, and asks for what is stored as soon as it is connected."""

    def __init__(self, browser, conversation, chance):
        self.conversation, self._browser, self._chance = conversation, browser, chance
        self.failures, self.snapshot, self.opened_at, self.snapshot_at = 0, None, 0.0, 0.0
        self.unacknowledged, self.acknowledged = {}, {}  # client id → content

    async def live(self):
        while True:
            self.opened_at = 0.0
            with suppress(OSError, WebSocketException):
                await self._follow()
            was_steady = self.opened_at and time.monotonic() - self.opened_at > STEADY_AFTER
            self.failures = 0 if was_steady else self.failures + 1
            await asyncio.sleep(pause_after(self.failures, self._chance))

    async def _follow(self):
        headers = {"Origin": self._browser.address, "Cookie": self._browser.cookie_header}
        address = self._browser.address.replace("http", "ws", 1) + "/ws/"
        options = {"open_timeout": PATIENCE_SECONDS, "ping_interval": None, "close_timeout": 0, "compression": None}
        async with connect(address, additional_headers=headers, proxy=None, max_size=None, **options) as self.socket:
            self.opened_at = time.monotonic()
            await self.say("conversation.sync", from_position=0)
            for client_id, content in self.unacknowledged.items():
                await self.say("message.post", client_id=client_id, content=content)
            async for frame in self.socket:
                self._take(json.loads(frame))

    def _take(self, frame):
        if frame["type"] == "conversation.snapshot":
            self.snapshot, self.snapshot_at = frame, time.monotonic()
        if frame["type"] == "message.stored" and frame["client_id"] in self.unacknowledged:
            self.acknowledged[frame["client_id"]] = self.unacknowledged.pop(frame["client_id"])

    async def say(self, frame_type, **fields):
        await self.socket.send(json.dumps({"type": frame_type, "conversation": self.conversation, **fields}))

    async def post(self):
        client_id = str(uuid.uuid4())
        self.unacknowledged[client_id] = content = f"Tell me about {client_id}"
        await self.say("message.post", client_id=client_id, content=content)


async def until(condition, what):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, what
        await asyncio.sleep(0.02)


def is_right(site, page):
    """Has the page what is stored, and nothing else?"""
    return [message["id"] for message in page.snapshot["messages"]] == [
        row["id"] for row in site.database.rows(IDS, page.conversation)
    ]


async def test_all_pages_come_back_after_a_restart_and_lose_nothing(site, pages):
    async with asyncio.TaskGroup() as living:
        tasks = [living.create_task(page.live()) for page in pages]
        await until(lambda: all(page.snapshot for page in pages), "all pages are open")
        senders = [page for number, page in enumerate(pages) if number % SOCKETS_EACH < CONVERSATIONS_EACH]
        for page in senders:
            await page.post()
        await until(lambda: sum(len(page.acknowledged) for page in senders) > len(senders) // 4, "some are stored")
        for page in pages:
            page.snapshot = None
        site.process.kill()
        await asyncio.to_thread(site.serve)
        await come_back(site, pages)
        await until(lambda: not any(page.unacknowledged for page in pages), "what was not acknowledged is, in the end")
        await asyncio.to_thread(site.wait_until_quiet)
        for page in pages:
            page.snapshot = None
            await page.say("conversation.sync", from_position=0)
        await until(lambda: all(page.snapshot for page in pages), "all pages are answered")
        assert [page for page in pages if not is_right(site, page)] == []
        for task in tasks:
            task.cancel()
    check_acknowledged(site, pages)


async def come_back(site, pages):
    """Measure from the moment at which the site is served again."""
    ready_at, process, peak = time.monotonic(), psutil.Process(site.process.process.pid), 0.0
    before = used = cpu_seconds(process)
    while not all(page.snapshot for page in pages):
        assert time.monotonic() < ready_at + PATIENCE_SECONDS, "all pages are back"
        await asyncio.sleep(SAMPLE_SECONDS)
        peak = max(peak, (cpu_seconds(process) - used) / SAMPLE_SECONDS)
        used = cpu_seconds(process)
    PAGES_BACK_CPU.measure(used - before)
    PAGES_BACK_PEAK.measure(peak)
    back = [max(0.0, page.snapshot_at - ready_at) for page in pages]
    ALL_PAGES_BACK.measure(max(back))
    PAGES_BACK.measure(percentile_95(back))
    SNAPSHOT_IN_STORM.measure(percentile_95([page.snapshot_at - page.opened_at for page in pages]))


def cpu_seconds(process):
    times = process.cpu_times()
    return times.user + times.system
