"""A real uvicorn on a loopback port closes connections whose request headers stop coming, and no others."""

from __future__ import annotations

import socket
import threading

import pytest
import uvicorn

from conversations.management.http_protocol import HttpProtocol
from tests.support.patience import PATIENCE_SECONDS, wait_for
from tests.support.ports import free_port

WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Impatient(HttpProtocol):
    headers_seconds = 0.3


async def say_hello(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})


@pytest.fixture(scope="module")
def port():
    port = free_port()
    config = uvicorn.Config(say_hello, port=port, http=Impatient, log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_for(lambda: server.started, "the server listens")
    yield port
    server.should_exit = True
    thread.join()


@pytest.fixture
def connection(port):
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as connection:
        yield connection


def is_closed(connection):
    """Wait until the other side ends the connection; what it says before is thrown away."""
    try:
        while connection.recv(4096):
            pass
    except ConnectionResetError:
        pass
    return True


@pytest.mark.parametrize("sent", [b"", b"GET / HT", WHOLE[:-2], b"\r\n"])
def test_half_a_request_is_not_waited_for(connection, sent):
    connection.sendall(sent)
    assert is_closed(connection)


@pytest.mark.parametrize("sent", [WHOLE[:-2], b"\r\n"])
def test_nor_is_half_of_a_later_one(connection, sent):
    connection.sendall(WHOLE)
    assert connection.recv(4096).endswith(b"hello")
    connection.sendall(sent)
    assert is_closed(connection)


def test_a_whole_one_stops_the_clock(connection):
    for _ in range(3):
        connection.sendall(WHOLE)
        assert connection.recv(4096).endswith(b"hello")
        threading.Event().wait(Impatient.headers_seconds / 2)
