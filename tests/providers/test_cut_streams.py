"""A recorded stream, cut at every byte: what is not whole never looks whole, and nothing escapes our tree."""

import json
from collections import Counter

import httpx2
import pytest

from conversations.core.errors import CompletionError
from conversations.providers.clients.completions import CompletionClient
from conversations.providers.openai_api.completion_request import CompletionRequest
from conversations.providers.openai_api.completion_stream import CompletionEnd, TextDelta

from .conftest import PROMPT


def line(delta, finish_reason=None, **fields):
    choices = [{"index": 0, "delta": delta, "finish_reason": finish_reason}]
    chunk = {"id": "c", "model": "m", "choices": choices, **fields}
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()


TEXT = [line({"role": "assistant", "content": ""}), line({"content": "Grüße"}), line({"content": " 世界 👩‍👩‍👧"})]
FINISH = line({}, "stop")
USAGE = line({}, usage={"prompt_tokens": 3, "completion_tokens": 5})
RECORDED = b"".join([*TEXT, FINISH, USAGE, b"data: [DONE]\n\n"])
FINISHED_AT = len(b"".join([*TEXT, FINISH]))  # from this byte on the finish reason has come


class CutBody(httpx2.AsyncByteStream):
    def __init__(self, content, how):
        self.content, self.how = content, how

    async def __aiter__(self):
        yield self.content
        if self.how == "reset":
            raise httpx2.ReadError("connection reset")


class CutTransport(httpx2.AsyncBaseTransport):
    """Answers with the recorded stream up to byte *at*, then ends properly or by a reset."""

    at, how = 0, "end"

    async def handle_async_request(self, request):
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, stream=CutBody(RECORDED[: self.at], self.how), request=request)


async def read(client):
    """Return the text and how it ended: a finish reason, None, or the class of the error."""
    text = ""
    try:
        async for event in client.stream(CompletionRequest("m", PROMPT)):
            if isinstance(event, TextDelta):
                text += event.text
            elif isinstance(event, CompletionEnd):
                return text, event.finish_reason
    except CompletionError as error:
        return text, type(error)


@pytest.mark.parametrize("how", ["end", "reset"])
async def test_a_stream_cut_at_any_byte_is_never_taken_for_complete(how):
    transport = CutTransport()
    transport.how = how
    client = CompletionClient("http://provider.test/v1", None, http_client=httpx2.AsyncClient(transport=transport))
    outcomes = Counter()
    for transport.at in range(len(RECORDED)):
        text, end = await read(client)
        assert "Grüße 世界 👩‍👩‍👧".startswith(text)
        assert (end == "stop") == (transport.at >= FINISHED_AT), (transport.at, end)
        outcomes[end] += 1
    await client.aclose()

    assert outcomes["stop"] == len(RECORDED) - FINISHED_AT
