from __future__ import annotations

import asyncio
from contextlib import aclosing, closing

import pytest

from conversations.core.errors import CredentialsRejected, RateLimited
from conversations.providers.openai_api.provider_connection import ProviderConnection, StreamTimeout, Timeouts
from tests.support.loop_clock import LoopClock

QUICK = Timeouts(first_byte_seconds=0.05, idle_seconds=0.05, total_seconds=30)
SLOW = Timeouts(first_byte_seconds=60, idle_seconds=60, total_seconds=900)


async def for_ever() -> None:
    await asyncio.Event().wait()


async def wait_often(waits: StreamTimeout, *, chunks: bool) -> None:
    while True:
        with waits:
            await asyncio.sleep(0.01)
        if chunks:
            waits.restart()


@pytest.fixture
async def waits():
    with closing(StreamTimeout(QUICK)) as waits:
        yield waits


@pytest.fixture
async def clock():
    return LoopClock(asyncio.get_running_loop())


async def test_a_wait_that_takes_too_long_is_ended(waits):
    with pytest.raises(TimeoutError), waits:
        await for_ever()
    assert not asyncio.current_task().cancelling()


async def test_each_chunk_begins_the_wait_again(clock):
    """Together they take longer than one may."""
    with closing(StreamTimeout(SLOW)) as waits:
        for _ in range(5):
            with waits:
                await clock.pass_(0.9 * SLOW.idle_seconds)
            waits.restart()


async def test_what_is_no_chunk_prolongs_nothing(waits):
    with pytest.raises(TimeoutError):
        await wait_often(waits, chunks=False)


async def test_signs_of_life_prolong_a_wait_up_to_a_limit(clock):
    with closing(StreamTimeout(SLOW)) as waits:
        for _ in range(5):
            with waits:
                await clock.pass_(0.9 * SLOW.idle_seconds)
            waits.extend()
        with pytest.raises(TimeoutError), waits:
            await clock.pass_(0.9 * SLOW.idle_seconds)


async def test_silence_after_a_sign_of_life_ends_the_wait(clock):
    with closing(StreamTimeout(SLOW)) as waits:
        with waits:
            await clock.pass_(0.9 * SLOW.idle_seconds)
        waits.extend()
        with pytest.raises(TimeoutError), waits:
            await clock.pass_(1.1 * SLOW.idle_seconds)


async def test_the_whole_has_an_end_however_fast_chunks_come():
    with closing(StreamTimeout(Timeouts(total_seconds=0.1))) as waits, pytest.raises(TimeoutError):
        await wait_often(waits, chunks=True)


async def test_the_whole_has_an_end_where_nothing_is_waited_for(clock):
    """A provider that always has sent something by the time it is asked for."""
    with closing(StreamTimeout(SLOW)) as waits:
        await clock.pass_(1.1 * SLOW.total_seconds)
        with pytest.raises(TimeoutError), waits:
            pass


async def test_time_that_is_not_waited_does_not_count(clock):
    with closing(StreamTimeout(SLOW)) as waits:
        await clock.pass_(3 * SLOW.idle_seconds)
        with waits:
            await clock.pass_(SLOW.idle_seconds / 2)


async def test_a_wait_has_all_of_its_time_whenever_it_begins(clock):
    """Also just before the timer would have checked whether it is over."""
    with closing(StreamTimeout(SLOW)) as waits:
        await clock.pass_(SLOW.idle_seconds)
        await clock.pass_(0.9 * SLOW.idle_seconds)
        with waits:
            await clock.pass_(SLOW.idle_seconds / 2)


async def test_another_users_cancellation_stays_one(waits):
    async def wait():
        with waits:
            await for_ever()

    waiting = asyncio.create_task(wait())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_cancellation_within_the_same_moment_is_not_swallowed(waits):
    async def wait():
        with waits:
            await for_ever()

    waiting = asyncio.create_task(wait())
    await asyncio.sleep(0)
    waits._until = 0
    waits._check()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_an_answer_that_streams_does_not_keep_what_was_sent(upstream):
    body = {"model": "ok", "messages": [{"role": "user", "content": "a long prompt"}], "stream": True}
    connection = ProviderConnection(upstream.base_url, "sk-canary-1234567890", connect_seconds=10)
    async with aclosing(connection), aclosing(await connection.open_stream("/chat/completions", body)) as response:
        assert not response.request.content
        assert b"Hello" in b"".join([piece async for piece in response.aiter_raw()])


@pytest.fixture
async def proxy(monkeypatch):
    """Yield the lines of all heads that came to a proxy, which the environment names and which answers each alike."""
    lines = []

    async def answer(reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        lines.extend(head.decode().splitlines())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        yield lines


async def test_a_request_goes_through_the_proxy_of_the_environment(proxy):
    async with aclosing(ProviderConnection("http://models.example.org/v1", "sk-1", connect_seconds=10)) as connection:
        answer = await connection.post("/embeddings", {"input": "words"})
    assert answer.content == b"{}"
    assert proxy[0] == "POST http://models.example.org/v1/embeddings HTTP/1.1"
    assert {"authorization: bearer sk-1", "user-agent: windowseat"} <= set(map(str.lower, proxy))


async def test_what_an_address_asks_for_stays_behind_the_path(proxy):
    base_url = "http://models.example.org/openai/?api-version=1"
    async with aclosing(ProviderConnection(base_url, None, connect_seconds=10)) as connection:
        await connection.post("/chat/completions", {})
    assert proxy[0] == "POST http://models.example.org/openai/chat/completions?api-version=1 HTTP/1.1"


@pytest.mark.parametrize(("status", "error"), [(429, RateLimited), (401, CredentialsRejected)])
async def test_a_refusal_that_breaks_off_keeps_its_status(status, error):
    async def break_off(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 {status} Refused\r\nContent-Length: 500\r\nRetry-After: 7\r\n\r\n"
        writer.write(head.encode() + b'{"error": {"message":')
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(break_off, "127.0.0.1", 0) as server:
        base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        async with aclosing(ProviderConnection(base_url, None, connect_seconds=10)) as connection:
            with pytest.raises(error) as raised, connection.translated_errors(lambda: ()):
                await connection.open_stream("/chat/completions", {})
    if error is RateLimited:
        assert raised.value.retry_after_seconds == 7
