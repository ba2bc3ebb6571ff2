"""A real uvicorn on a loopback port ends WebSockets that are none, and those whose other side does not read."""

from __future__ import annotations

import asyncio
import logging
import queue
import socket
import threading
from contextlib import contextmanager

import pytest

from conversations.management.http_protocol import HttpProtocol
from conversations.management.socket_protocol import MOST_PIECES, TOO_LARGE, SocketEvents, SocketProtocol
from conversations.sockets.send_buffer import SEND_NOW
from tests.support.patience import PATIENCE_SECONDS, wait_for
from tests.support.waiting import wait_in_loop

from .uvicorn_server import is_closed, serve

UPGRADE = (
    b"Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)
HANDSHAKE = b"GET / HTTP/1.1\r\n" + UPGRADE + b"\r\n"
CONTINUATION, TEXT, PING = 0, 1, 9
ENOUGH_PINGS = 200_000  # their answers would be 25 megabytes
MUCH = "much"
AT_ONCE = "at once"
BODY = b"b" * 30_000_000  # more than the operating system takes
taken = threading.Event()  # a message over a WebSocket
sent_too_late: queue.SimpleQueue[Exception | None] = queue.SimpleQueue()
sent_at_once: queue.SimpleQueue[bool] = queue.SimpleQueue()


class ImpatientHttp(HttpProtocol):
    unread_seconds = 0.3


class ImpatientSocket(SocketProtocol):
    unread_seconds = 0.3


async def answer(scope, receive, send):
    """Say how many characters each message has; say much over HTTP, and where that is the message.

    A handshake for another address is refused with a status of its own. What frames raise that are sent to a socket
    that the server has ended is `sent_too_late`. What `send_now` returns is in `sent_at_once`: for the message
    `AT_ONCE` of "a", of what is no text, of much and of "b", which is sent after that; last of all of what comes after
    the end.
    """
    if scope["type"] == "http":
        headers = [(b"content-length", str(len(BODY)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": BODY})
        return
    if scope["path"] != "/":
        await send({"type": "websocket.http.response.start", "status": 429, "headers": []})
        await send({"type": "websocket.http.response.body", "body": b"too many"})
        return
    send_now = scope["extensions"][SEND_NOW]
    while (message := await receive())["type"] != "websocket.disconnect":
        if message["type"] == "websocket.connect":
            sent_at_once.put(send_now("before it is open"))
            await send({"type": "websocket.accept"})
        elif message["text"] == AT_ONCE:
            for text in ("a", "\ud800", BODY.decode(), "b"):
                sent_at_once.put(send_now(text))
            await send({"type": "websocket.send", "text": "b"})
        else:
            said = message["text"]
            taken.set()
            await send({"type": "websocket.send", "text": BODY.decode() if said == MUCH else str(len(said))})
    sent_at_once.put(send_now("after its end"))
    if message["code"] != TOO_LARGE:
        return
    for late in ({"type": "websocket.send", "text": "more"}, {"type": "websocket.close"}):
        try:
            await send(late)
        except Exception as error:
            sent_too_late.put(error)
        else:
            sent_too_late.put(None)


class SocketInView(SocketProtocol):
    """The newest one is `shown`."""

    shown: SocketInView

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        SocketInView.shown = self


@pytest.fixture(scope="module")
def port():
    with serve(answer, http=HttpProtocol, ws=SocketInView) as port:
        yield port


@pytest.fixture(scope="module")
def impatient_port():
    with serve(answer, http=ImpatientHttp, ws=ImpatientSocket) as port:
        yield port


@contextmanager
def connected(port):
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as connection:
        yield connection


@contextmanager
def opened(port):
    """A WebSocket that is open."""
    with connected(port) as connection:
        connection.sendall(HANDSHAKE)
        assert b" 101 " in connection.recv(4096)
        yield connection


def frame(opcode, payload=b"", *, is_last=True):
    """Return a masked frame of up to 125 bytes; zeros mask nothing."""
    return bytes([is_last << 7 | opcode, 0x80 | len(payload), 0, 0, 0, 0]) + payload


@pytest.mark.parametrize(
    "sent",
    [
        b"POST / HTTP/1.1\r\n" + UPGRADE + b"Content-Length: 9\r\n\r\n",
        b"POST / HTTP/1.1\r\n" + UPGRADE + b"\r\n",
        b"GET / HTTP/1.1\r\n" + UPGRADE + b"Content-Length: 3\r\n\r\nabc",
        b"GET / HTTP/1.1\r\n" + UPGRADE + b"Transfer-Encoding: chunked\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + UPGRADE + b"A: b\r\n" * 150 + b"\r\n",
        b"GET / HTTP/1.1\r\n" + UPGRADE + b"A: " + b"b" * 9_000 + b"\r\n\r\n",
        b"GET /" + b"b" * 9_000 + b" HTTP/1.1\r\n" + UPGRADE + b"\r\n",
    ],
    ids=["body to come", "POST", "body", "chunks to come", "many fields", "long field", "long address"],
)
def test_a_handshake_that_is_none_is_refused(port, sent):
    with connected(port) as connection:
        connection.sendall(sent)
        assert b" 40" in connection.recv(4096)
        assert is_closed(connection)


def test_a_handshake_whose_body_is_empty_is_one(port):
    with connected(port) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n" + UPGRADE + b"Content-Length: 0\r\n\r\n")
        assert b" 101 " in connection.recv(4096)


def test_a_handshake_that_is_refused_is_no_error_of_the_server(port, caplog, monkeypatch):
    log = logging.getLogger("uvicorn.error")
    monkeypatch.setattr(log, "handlers", [caplog.handler])
    monkeypatch.setattr(log, "level", logging.INFO)
    log.manager._clear_cache()
    with connected(port) as connection:
        connection.sendall(b"GET /full HTTP/1.1\r\n" + UPGRADE + b"\r\n")
        assert b" 429 " in connection.recv(4096)
        assert is_closed(connection)
    wait_for(lambda: not SocketInView.shown.tasks, "it has been dealt with")
    assert {record.levelname for record in caplog.records} == {"INFO"}


def test_pings_are_answered_to_who_reads(port):
    with opened(port) as connection:
        connection.sendall(frame(PING, b"ping"))
        assert connection.recv(4096) == b"\x8a\x04ping"


def test_answers_to_pings_that_are_not_read_are_not_kept(port):
    with opened(port) as connection:
        taken.clear()
        connection.sendall(frame(PING, b"x" * 125) * ENOUGH_PINGS)
        connection.sendall(frame(TEXT, b"end"))
        assert taken.wait(PATIENCE_SECONDS)  # and so all pings before it
        assert SocketInView.shown.transport.get_write_buffer_size() < 1_000_000


def test_who_does_not_read_is_cut_off(impatient_port):
    with opened(impatient_port) as connection:
        connection.sendall(frame(TEXT, MUCH.encode()))
        threading.Event().wait(ImpatientSocket.unread_seconds * 4)
        assert bytes_left(connection) < len(BODY)


def test_and_so_is_who_does_not_read_a_page(impatient_port):
    with connected(impatient_port) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        threading.Event().wait(ImpatientHttp.unread_seconds * 4)
        assert bytes_left(connection) < len(BODY)


def bytes_left(connection):
    """Return how much comes until the other side has ended the connection."""
    count = 0
    try:
        while piece := connection.recv(1_000_000):
            count += len(piece)
    except ConnectionError:
        pass
    return count


def test_who_reads_slowly_gets_all(impatient_port):
    with connected(impatient_port) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        count = 0
        while piece := connection.recv(3_000_000, socket.MSG_WAITALL):
            count += len(piece)
            threading.Event().wait(ImpatientHttp.unread_seconds / 3)
    assert count > len(BODY)


def test_a_message_in_pieces_is_one(port):
    with opened(port) as connection:
        connection.sendall(frame(TEXT, b"abc", is_last=False) + frame(CONTINUATION, b"def"))
        assert connection.recv(4096) == b"\x81\x016"


def test_a_message_without_end_is_ended(port):
    with opened(port) as connection:
        connection.sendall(frame(TEXT, is_last=False) + frame(CONTINUATION, is_last=False) * (MOST_PIECES + 10))
        assert b"too many pieces" in connection.recv(4096)
        assert is_closed(connection)


def test_a_frame_for_a_socket_that_is_being_closed_raises_as_for_one_that_has_gone(port):
    with opened(port) as connection:
        connection.sendall(frame(TEXT, is_last=False) + frame(CONTINUATION, is_last=False) * (MOST_PIECES + 10))
        for _ in range(2):  # a frame, and one that closes it
            assert isinstance(sent_too_late.get(timeout=PATIENCE_SECONDS), OSError)


def test_an_idle_socket_keeps_neither_the_heads_of_its_handshake_nor_a_queue(port):
    with opened(port) as connection:
        connection.sendall(frame(TEXT, b"four"))
        assert connection.recv(4096) == b"\x81\x014"
        shown = SocketInView.shown
        assert not [*shown.scope["headers"], *shown.request.headers, *shown.response.headers]
        assert shown.queue.empty()


async def test_events_are_read_in_their_order_and_a_reader_that_gives_up_takes_none():
    events = SocketEvents()
    reading = asyncio.create_task(events.get())
    await wait_in_loop(lambda: events._waiting)
    events.put_nowait(1)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    events.put_nowait(2)
    assert [await events.get(), await events.get()] == [1, 2]
    assert events.empty()
    later = asyncio.create_task(events.get())
    await wait_in_loop(lambda: events._waiting)
    events.put_nowait(3)
    assert await later == 3


def test_text_is_sent_at_once_while_the_socket_is_open_and_its_other_side_reads():
    with serve(answer, http=HttpProtocol, ws=SocketInView) as port:
        while not sent_at_once.empty():
            sent_at_once.get()
        with opened(port) as connection:
            assert sent_at_once.get(timeout=PATIENCE_SECONDS) is False
            connection.sendall(frame(TEXT, AT_ONCE.encode()))
            assert [sent_at_once.get(timeout=PATIENCE_SECONDS) for _ in range(4)] == [True, False, True, False]
            expected = b"\x81\x01a" + b"\x81\x7f" + len(BODY).to_bytes(8) + BODY + b"\x81\x01b"
            with connection.makefile("rb") as received:
                assert received.read(len(expected)) == expected
        assert sent_at_once.get(timeout=PATIENCE_SECONDS) is False


def test_a_socket_that_has_ended_keeps_no_way_to_send():
    with serve(answer, http=HttpProtocol, ws=SocketInView) as port:
        with opened(port):
            ended = SocketInView.shown
            assert SEND_NOW in ended.scope["extensions"]
        wait_for(lambda: SEND_NOW not in ended.scope["extensions"])
