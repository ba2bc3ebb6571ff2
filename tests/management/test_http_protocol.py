"""A real uvicorn on a loopback port closes connections whose request headers stop coming or are too large."""

from __future__ import annotations

import socket
import threading

import pytest

from conversations.management.http_protocol import HttpProtocol
from tests.support.patience import PATIENCE_SECONDS

from .uvicorn_server import is_closed, serve

WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Impatient(HttpProtocol):
    headers_seconds = 0.3


async def say_hello(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    cookies = b"|".join(value for name, value in scope["headers"] if name == b"cookie")
    body = cookies + b"hello"
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def impatient_port():
    with serve(say_hello, http=Impatient) as port:
        yield port


@pytest.fixture(scope="module")
def port():
    with serve(say_hello, http=HttpProtocol) as port:
        yield port


@pytest.fixture
def connection(impatient_port):
    """A connection on which headers may take 0.3 seconds."""
    with socket.create_connection(("127.0.0.1", impatient_port), timeout=PATIENCE_SECONDS) as connection:
        yield connection


@pytest.fixture
def patient_connection(port):
    """A connection that no clock ends within a test."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as connection:
        yield connection


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


MOST_BYTES = 20_000_000
HEAD = WHOLE.removesuffix(b"\r\n")
CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        (HEAD, b"a:\r\n"),
        (HEAD, b"x-long: " + b"y" * 1000 + b"\r\n"),
        (HEAD + b"x: ", b"y" * 1000),
        (b"GET /", b"y" * 1000),
        (CHUNKED, b"a:\r\n"),
    ],
    ids=["many fields", "many bytes", "one value", "one address", "trailers"],
)
def test_a_head_that_is_too_large_ends_the_connection(patient_connection, begin, piece):
    patient_connection.sendall(begin)
    assert bytes_taken(patient_connection, piece * 250) < MOST_BYTES


def bytes_taken(connection, piece):
    """Send until the other side has closed the connection, or much has been sent; return how much."""
    sent = 0
    try:
        while sent < MOST_BYTES:
            sent += connection.send(piece)
    except ConnectionError:
        pass
    return sent


def test_a_head_of_usual_size_and_a_long_body_are_taken(patient_connection):
    body = b"b" * 1_000_000
    fields = b"".join(b"x-%d: %s\r\n" % (number, b"v" * 200) for number in range(100))
    patient_connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\n" + fields + b"Content-Length: 1000000\r\n\r\n" + body)
    assert patient_connection.recv(4096).endswith(b"hello")


@pytest.mark.parametrize("lines", [[b"a=1", b"b=2"], [b"b=2", b"a=1"]])
def test_several_cookie_headers_are_one(patient_connection, lines):
    patient_connection.sendall(HEAD + b"".join(b"Cookie: " + line + b"\r\n" for line in lines) + b"\r\n")
    assert patient_connection.recv(4096).endswith(b"; ".join(lines) + b"hello")
