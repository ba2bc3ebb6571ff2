"""What waits to be sent to a page, also to one that does not read."""

from __future__ import annotations

import asyncio
import weakref

from conversations.sockets import send_buffer
from conversations.sockets.send_buffer import SendBuffer
from tests.support.patience import PATIENCE_SECONDS
from tests.support.waiting import wait_in_loop


class Socket:
    """A page's socket; unless it *reads*, sending to it never ends."""

    def __init__(self, *, reads: bool = True, is_gone: bool = False) -> None:
        self.reads, self.is_gone = reads, is_gone
        self.sent: list[str] = []
        self.is_closed = asyncio.Event()
        self.buffer = SendBuffer(send=self.send, close=self.close)
        self.buffer.start()

    async def send(self, payload: str) -> None:
        if self.is_gone:
            raise OSError
        if not self.reads:
            await asyncio.Event().wait()
        self.sent.append(payload)

    async def close(self) -> None:
        self.is_closed.set()


async def test_payloads_are_sent_in_their_order():
    socket = Socket()
    for payload in "abc":
        socket.buffer.put(payload)
    while len(socket.sent) < 3:
        await asyncio.sleep(0)
    socket.buffer.stop()
    assert socket.sent == ["a", "b", "c"]


async def test_what_can_be_sent_at_once_is_and_what_comes_after_what_waits_is_not():
    sent, may_go, is_open = [], asyncio.Event(), True

    def send_now(payload: str) -> bool:
        if is_open:
            sent.append(payload)
        return is_open

    async def send(payload: str) -> None:
        await may_go.wait()
        sent.append(payload)

    buffer = SendBuffer(send=send, close=asyncio.Event().wait, send_now=send_now)
    buffer.put("before it is started")
    assert sent == []
    buffer.start()
    buffer.put("while that waits")
    may_go.set()
    await wait_in_loop(lambda: len(sent) == 2)
    buffer.put("at once")
    assert sent == ["before it is started", "while that waits", "at once"]
    is_open = False
    buffer.put("later")
    is_open = True
    buffer.put("last")
    await wait_in_loop(lambda: len(sent) == 5)
    assert sent[3:] == ["later", "last"]
    buffer.stop()
    buffer.put("never")
    assert len(sent) == 5


async def test_what_cannot_be_sent_is_lost_alone_and_logged(caplog):
    sent, is_open = [], False

    async def send(payload: str) -> None:
        sent.append(payload.encode().decode())

    def send_now(payload: str) -> bool:
        if is_open:
            sent.append(payload)
        return is_open

    buffer = SendBuffer(send=send, close=asyncio.Event().wait, send_now=send_now)
    buffer.start()
    for payload in ("before", "\ud800", "after"):
        buffer.put(payload)
    is_open = True
    buffer.put("overtakes nothing that waits")
    await wait_in_loop(lambda: len(sent) == 3)
    assert sent == ["before", "after", "overtakes nothing that waits"]
    assert [record.exc_info[0] for record in caplog.records] == [UnicodeEncodeError]


async def test_one_payload_alone_may_be_of_any_size(monkeypatch):
    monkeypatch.setattr(send_buffer, "MOST_UNSENT_CHARACTERS", 10)
    socket = Socket()
    socket.buffer.put("x" * 100)
    assert not socket.buffer.is_given_up
    socket.buffer.stop()


async def test_a_page_that_does_not_read_is_closed_and_what_waits_is_dropped(monkeypatch):
    monkeypatch.setattr(send_buffer, "MOST_UNSENT_FRAMES", 3)
    socket = Socket(reads=False)
    socket.buffer.put("a")
    await asyncio.sleep(0)
    for payload in "bcdef":
        socket.buffer.put(payload)
    await asyncio.wait_for(socket.is_closed.wait(), timeout=PATIENCE_SECONDS)
    assert socket.buffer.is_given_up
    assert socket.sent == []


async def test_a_page_is_closed_also_where_too_much_comes_before_anything_could_be_sent(monkeypatch):
    monkeypatch.setattr(send_buffer, "MOST_UNSENT_FRAMES", 3)
    socket = Socket()
    for payload in "abcde":
        socket.buffer.put(payload)
    await asyncio.wait_for(socket.is_closed.wait(), timeout=PATIENCE_SECONDS)
    assert socket.sent == []


async def test_a_page_that_is_given_up_is_closed_once():
    closed = []

    async def close() -> None:
        closed.append(True)

    buffer = SendBuffer(send=Socket().send, close=close)
    buffer.give_up()
    buffer.give_up()
    await buffer._closing
    buffer.put("never")
    assert (closed, buffer._payloads, buffer.is_given_up) == ([True], [], True)


async def test_what_is_put_while_something_is_sent_follows_it():
    socket = Socket()
    for payload in "abc":
        socket.buffer.put(payload)
        await wait_in_loop(lambda: socket.buffer._sending is None)
    assert socket.sent == ["a", "b", "c"]


async def test_what_comes_before_the_start_is_sent_then():
    sent = []

    async def send(payload):
        sent.append(payload)

    buffer = SendBuffer(send=send, close=send)
    buffer.put("a")
    await asyncio.sleep(0)
    assert sent == []
    buffer.start()
    await wait_in_loop(lambda: sent == ["a"])


class Payload(str):
    """A text whose end can be waited for."""


async def test_what_was_sent_is_not_kept():
    """Or each idle page would keep its last frame, as a rule a snapshot."""
    lengths = []

    async def send(payload):
        lengths.append(len(payload))

    buffer = SendBuffer(send=send, close=asyncio.Event().wait)
    buffer.start()
    payload = Payload("a")
    kept = weakref.ref(payload)
    buffer.put(payload)
    del payload
    await wait_in_loop(lambda: lengths == [1])
    assert kept() is None


async def test_nothing_is_kept_for_a_page_that_has_gone():
    socket = Socket(is_gone=True)
    socket.buffer.put("a")
    await wait_in_loop(lambda: socket.buffer.is_closed)
    payload = Payload("b")
    kept = weakref.ref(payload)
    socket.buffer.put(payload)
    del payload
    assert kept() is None


async def test_what_waits_is_let_go_when_the_socket_is_closed():
    socket = Socket(reads=False)
    payload = Payload("a")
    kept = weakref.ref(payload)
    socket.buffer.put(payload)
    del payload
    socket.buffer.stop()
    assert kept() is None
