"""A server that writes an answer unasked: it must not become the answer to the next request, maybe another user's."""

import asyncio
import json
from contextlib import asynccontextmanager

import httpx2

from conversations.providers.clients.completions import CompletionClient
from conversations.providers.egress.destinations import Destination
from conversations.providers.egress.transport import EgressTransport
from conversations.providers.openai_api.completion_request import CompletionRequest
from conversations.providers.openai_api.completion_stream import TextDelta

from .conftest import PROMPT

ASKED, UNASKED = "what was asked for", "of someone else"


def answer_with(text):
    chunks = [{"delta": {"content": text}}, {"delta": {}, "finish_reason": "stop"}]
    events = [f"data: {json.dumps({'choices': [{'index': 0, **chunk}]})}\n\n" for chunk in chunks]
    body = "".join([*events, "data: [DONE]\n\n"]).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


class RepeatingServer:
    """Answers each request with `ASKED`, and writes `UNASKED` on all its open connections when it is told to."""

    def __init__(self):
        self._writers = []

    @property
    def connections(self):
        return len(self._writers)

    async def answer(self, reader, writer):
        self._writers.append(writer)
        while head := await reader.readuntil(b"\r\n\r\n"):
            lengths = [line.split(b":")[1] for line in head.lower().splitlines() if line.startswith(b"content-length")]
            await reader.readexactly(int(lengths[0]) if lengths else 0)
            writer.write(answer_with(ASKED))

    async def write_unasked(self):
        for writer in self._writers:
            writer.write(answer_with(UNASKED))
        for _ in range(20):  # turns of the loop: in the first the client's end has it
            await asyncio.sleep(0)


@asynccontextmanager
async def serve():
    repeating = RepeatingServer()

    async def answer(reader, writer):
        try:
            await repeating.answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield repeating, server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def ask_completion(client):
    events = [event async for event in client.stream(CompletionRequest("any", PROMPT))]
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_a_reply_is_never_what_was_not_asked_for():
    async with serve() as (server, port):
        client = CompletionClient(f"http://127.0.0.1:{port}/v1", None)
        assert await ask_completion(client) == ASKED
        assert await ask_completion(client) == ASKED
        assert server.connections == 1  # it is used again
        await server.write_unasked()
        assert await ask_completion(client) == ASKED
        await client.aclose()


async def test_neither_is_an_answer_of_the_guarded_transport():
    async with serve() as (server, port):
        destination = Destination("http", "127.0.0.1", port, is_named=True)
        async with httpx2.AsyncClient(transport=EgressTransport(destination, most_bytes=10_000)) as client:
            assert ASKED in (await client.get(f"http://127.0.0.1:{port}/")).text
            await server.write_unasked()
            assert ASKED in (await client.get(f"http://127.0.0.1:{port}/")).text
