"""What a completion says to a program waits in its order, however it is read."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from conversations.core.errors import ConversationError
from conversations.services.api.event_queue import AnswerPiece, EventQueue, Failed
from tests.support.patience import PATIENCE_SECONDS

PIECES = st.builds(AnswerPiece, st.text(max_size=3), st.text(max_size=3))
READS = st.just("read")


def spoken(pieces):
    """Return what they say, a character at a time: in each piece thoughts come before the text."""
    return [
        (kind, each)
        for piece in pieces
        for kind, said in (("thought", piece.reasoning), ("text", piece.text))
        for each in said
    ]


@given(st.lists(PIECES | READS))
def test_all_comes_in_its_order_and_the_end_comes_last(steps):
    async def run():
        queue, read = EventQueue(), []
        for step in steps:
            if step != "read":
                queue.put(step)
            elif queue.waiting:
                read.append(await queue.next())
        queue.put(end := Failed(ConversationError()))
        while isinstance(event := await queue.next(), AnswerPiece):
            read.append(event)
        assert event is end
        return read

    assert spoken(asyncio.run(run())) == spoken(step for step in steps if step != "read")


async def test_pieces_that_wait_come_as_one():
    queue = EventQueue()
    for number in range(3):
        queue.put(AnswerPiece(reasoning=f"t{number}"))
    for number in range(3):
        queue.put(AnswerPiece(f"w{number}"))
    assert await queue.next() == AnswerPiece("w0w1w2", "t0t1t2")


async def test_a_reader_waits_until_something_comes():
    queue = EventQueue()
    reading = asyncio.create_task(queue.next())
    await asyncio.sleep(0)
    queue.put(AnswerPiece("word"))
    assert await reading == AnswerPiece("word")


async def test_a_wait_ends_with_its_seconds_or_with_the_first_event():
    queue = EventQueue()
    assert not await queue.wait(0)
    waiting = asyncio.create_task(queue.wait(600))
    await asyncio.sleep(0)
    queue.put(AnswerPiece("word"))
    assert await waiting
    assert await queue.wait(0)
    assert queue.waiting == AnswerPiece("word")


async def test_a_shorter_wait_behind_a_long_one_ends_in_its_time():
    queue = EventQueue()
    waiting = asyncio.create_task(queue.wait(600))
    await asyncio.sleep(0)
    queue.put(AnswerPiece("word"))
    assert await waiting
    await queue.next()
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert not await queue.wait(0.001)
        assert not await queue.wait(0.001)
