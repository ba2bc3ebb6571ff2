"""What comes while a provider's stream is paused, and how it ends, is read afterwards: with TLS too, on either loop."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from contextlib import asynccontextmanager

import aiohttp
import httpx2
import pytest
import uvloop

from conversations.providers.clients.read_pace import ReadTurns
from conversations.providers.egress.broken_answers import KeptResponse
from conversations.providers.openai_api.network_transport import NetworkTransport
from tests.support.patience import LOOK_AGAIN_SECONDS, PATIENCE_SECONDS
from tests.support.proxies import HOST, make_certificate

HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
PIECES = [b"word%d " % number for number in range(12)]
LAST_CHUNK = b"0\r\n\r\n"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(params=["plain", "tls"])
def contexts(request, certificate):
    """The TLS of the server and that of the client; None without."""
    if request.param == "plain":
        return None, None
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(*certificate)
    return server, ssl.create_default_context(cafile=str(certificate[0]))


@asynccontextmanager
async def open_stream(answer, server_tls: ssl.SSLContext | None, client_tls: ssl.SSLContext | None):
    """Ask a server that has *answer* for connections, and give the response. All of it ends after a while."""
    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=server_tls)
    address = f"{'https' if server_tls else 'http'}://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    session = aiohttp.ClientSession(response_class=KeptResponse)
    tls = {"ssl": client_tls, "server_hostname": HOST} if client_tls else {}
    async with server, session, asyncio.timeout(PATIENCE_SECONDS), session.get(address, **tls) as response:
        yield response


async def read_paused(ending: str, server_tls: ssl.SSLContext | None, client_tls: ssl.SSLContext | None):
    """Pause a stream, let the server send all and end it so, and read it. Return the text and what it ended with."""
    is_paused, has_ended = asyncio.Event(), asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD)
        await is_paused.wait()
        for piece in PIECES:
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
        if ending == "whole":
            writer.write(LAST_CHUNK)
        if ending == "reset":
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if ending in ("killed", "reset"):
            writer.transport.abort()
        else:
            writer.close()
        has_ended.set()

    read, error = b"", None
    async with open_stream(answer, server_tls, client_tls) as response:
        ReadTurns().pause(response.connection.transport, 1)
        is_paused.set()
        await has_ended.wait()
        try:
            while piece := await response.content.read(16_384):
                read += piece
        except aiohttp.ClientError as broken:
            error = broken
    return read, error


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("ending", ["whole", "ended", "killed", "reset"])
def test_what_comes_while_a_stream_is_paused_is_read_afterwards(ending, new_loop, contexts):
    with asyncio.Runner(loop_factory=new_loop) as runner:
        read, error = runner.run(read_paused(ending, *contexts))
    assert read == b"".join(PIECES)
    assert (error is None) == (ending == "whole")


class StuckTransport:
    """A connection that can be paused, and not be read on."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def __getattr__(self, name: str) -> object:
        return getattr(self._transport, name)

    def resume_reading(self) -> None:
        raise RuntimeError("stuck")


async def read_stuck(server_tls: ssl.SSLContext | None, client_tls: ssl.SSLContext | None) -> None:
    """Read a stream that goes on for ever, from a connection that was paused and can't be read on."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD)
        await reader.read()
        writer.close()

    async with open_stream(answer, server_tls, client_tls) as response:
        ReadTurns().pause(StuckTransport(response.connection.transport), 1)
        await response.content.read(1)


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_a_stream_that_cannot_be_read_on_ends_at_its_turn(new_loop, contexts):
    with asyncio.Runner(loop_factory=new_loop) as runner, pytest.raises(aiohttp.ClientError):
        runner.run(read_stuck(*contexts))


async def test_a_connection_is_a_streams_until_all_of_it_has_come():
    may_end = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD)
        await may_end.wait()
        writer.write(LAST_CHUNK)

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    client = httpx2.AsyncClient(transport=NetworkTransport())
    async with server, client, client.stream("GET", address) as response, asyncio.timeout(PATIENCE_SECONDS):
        find_transport = response.extensions["find_transport"]
        assert not find_transport().is_closing()
        may_end.set()
        while find_transport():  # another request may have it from then on
            await asyncio.sleep(LOOK_AGAIN_SECONDS)
