"""What came before a connection broke is read, also by a reader that looks for it only after the break."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import aiohttp
import pytest

from conversations.providers.egress.broken_answers import KeptResponse
from tests.support.patience import LOOK_AGAIN_SECONDS, PATIENCE_SECONDS

HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
PIECES = [b"word0", b" word1", b" word2"]


@asynccontextmanager
async def broken_answer(response_class: type[aiohttp.ClientResponse]):
    """Ask a server that breaks off after `PIECES`, and yield the response once the break is known."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in PIECES))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with (
        server,
        aiohttp.ClientSession(response_class=response_class) as session,
        session.get(f"http://127.0.0.1:{port}/") as response,
    ):
        async with asyncio.timeout(PATIENCE_SECONDS):
            while response.content.exception() is None:
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
        yield response


async def test_what_had_come_is_read_before_the_break_is_told():
    async with broken_answer(KeptResponse) as response:
        read = b""
        while len(read) < len(b"".join(PIECES)):
            read += await response.content.read(8)
        assert read == b"".join(PIECES)
        with pytest.raises(aiohttp.ClientPayloadError):
            await response.content.read(8)


async def test_aiohttp_alone_still_throws_it_away():
    """Where this fails, `broken_answers` can go."""
    async with broken_answer(aiohttp.ClientResponse) as response:
        with pytest.raises(aiohttp.ClientPayloadError):
            await anext(aiter(response.content.iter_chunked(8)))


async def looks_for_more(response_class: type[aiohttp.ClientResponse], most_bytes: int) -> tuple[bytes, int]:
    """Read an answer that has come in pieces by reads of *most_bytes*. Return it, and how often more was looked for."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in PIECES))

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    whole, looked = b"".join(PIECES), []
    async with (
        server,
        aiohttp.ClientSession(response_class=response_class) as session,
        session.get(address) as response,
    ):
        async with asyncio.timeout(PATIENCE_SECONDS):
            while response.content.total_bytes < len(whole):
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
            protocol = response.connection.protocol
            look, protocol.resume_reading = protocol.resume_reading, lambda *_: looked.append(look())
            read = b""
            while len(read) < len(whole):
                read += await response.content.read(most_bytes)
            del protocol.resume_reading
    return read, len(looked)


async def test_what_has_come_in_many_pieces_is_taken_together():
    assert await looks_for_more(KeptResponse, 1000) == (b"".join(PIECES), 1)


async def test_aiohttp_alone_still_looks_for_more_after_each_piece():
    """Where this fails, `KeptReader._read_nowait` can go."""
    assert await looks_for_more(aiohttp.ClientResponse, 1000) == (b"".join(PIECES), len(PIECES))


@pytest.mark.parametrize("most_bytes", range(1, sum(map(len, PIECES)) + 2))
async def test_it_is_the_same_however_much_is_asked_for(most_bytes):
    read, _ = await looks_for_more(KeptResponse, most_bytes)
    assert read == b"".join(PIECES)
