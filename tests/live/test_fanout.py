"""What is published for other processes while something is sent goes together, in its order."""

from __future__ import annotations

import asyncio

import pytest

from conversations.live import fanout
from tests.support.patience import PATIENCE_SECONDS


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
            await asyncio.sleep(0)
    assert layer.taken == [["0"], ["1", "2", "3", "4"]]
