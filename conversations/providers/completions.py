"""One attempt at a completion, streamed. The only importer of openai and of the HTTP packages it stands on.

Retrying is a decision of the service, which writes a row of the ledger for every attempt. Chunks stay plain objects:
building the package's typed ones was measured at 178 µs a chunk, handing the objects on at 0.2 µs.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, closing, contextmanager, suppress
from typing import Final

import aiohttp
import httpx2
import openai
from openai import AsyncOpenAI, AsyncStream, DefaultAioHttpClient

from conversations.core.errors import (
    CompletionError,
    MalformedStream,
    ProviderRejected,
    ProviderTimedOut,
    ProviderUnavailable,
    StreamBroken,
)

from .completion_events import CompletionEvent, CompletionReader
from .completion_requests import CompletionRequest
from .dialects import OPENAI_BASE_URL
from .event_stream import EventReader
from .refusals import Refusal, redact, refusal_error, refusal_inside, retry_after_seconds
from .waiting import Patience, Timeouts

# The aiohttp transport reads "no limit" as its own default of 100 connections, so a number has to be named.
CONNECTIONS: Final = 10_000

LAST_BYTE_SECONDS: Final = 0.5  # between the last event and the end of the stream
_SHORTEST_KEY: Final = 8  # what is shorter is a word such as "none", and may stand in a log

# All that a request can raise. The order matters: the first class that fits decides.
_ERRORS: Final[dict[type[Exception], type[CompletionError]]] = {
    openai.APIResponseValidationError: MalformedStream,
    openai.LengthFinishReasonError: MalformedStream,
    openai.ContentFilterFinishReasonError: ProviderRejected,
    openai.InvalidWebhookSignatureError: ProviderRejected,
    openai.WebSocketConnectionClosedError: ProviderUnavailable,
    openai.WebSocketQueueFullError: ProviderUnavailable,
    openai.APITimeoutError: ProviderTimedOut,
    openai.APIConnectionError: ProviderUnavailable,
    openai.OpenAIError: ProviderRejected,  # the rest of them are about how the client was set up
    httpx2.DecodingError: MalformedStream,
    httpx2.UnsupportedProtocol: ProviderRejected,
    httpx2.LocalProtocolError: ProviderRejected,
    httpx2.InvalidURL: ProviderRejected,
    aiohttp.InvalidURL: ProviderRejected,
    aiohttp.NonHttpUrlClientError: ProviderRejected,
    httpx2.TimeoutException: ProviderTimedOut,
    httpx2.HTTPError: ProviderUnavailable,
    httpx2.StreamError: ProviderUnavailable,
    TimeoutError: ProviderTimedOut,
    aiohttp.ClientError: ProviderUnavailable,
    OSError: ProviderUnavailable,
    UnicodeEncodeError: ProviderRejected,  # a lone surrogate can't be sent
    ValueError: MalformedStream,  # neither JSON nor UTF-8
}
_KNOWN: Final = tuple(_ERRORS)
# The package's other API errors hold the provider's own error object, sent as an answer or inside the stream.
_WITHOUT_REFUSAL: Final = (openai.APIConnectionError, openai.APIResponseValidationError)


class CompletionClient:
    """A provider at *base_url*. Belongs to one event loop; *http_client* replaces the way to the network."""

    def __init__(
        self,
        base_url: str | None,
        api_key: str | None,
        *,
        http_client: httpx2.AsyncClient | None = None,
        timeouts: Timeouts | None = None,
    ) -> None:
        self.base_url = base_url or OPENAI_BASE_URL
        self.timeouts = timeouts or Timeouts()
        # The package insists on a key; servers that need none, such as Ollama, do not look at it.
        self._api_key = api_key or "none"
        connect_seconds = self.timeouts.connect_seconds
        self._openai = AsyncOpenAI(
            base_url=self.base_url,
            api_key=self._api_key,
            max_retries=0,
            # `stream` keeps the other times itself: the transport's would start anew at every comment line.
            timeout=httpx2.Timeout(None, connect=connect_seconds, pool=connect_seconds),
            http_client=http_client or _http_client(),
        )

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[CompletionEvent]:
        """Make one attempt: yield the pieces of the reply as they come, and its `CompletionEnd` last.

        Closing the iterator, or cancelling the task that is in it, closes the connection to the provider.
        Raises a `CompletionError`, before the first piece or after it.
        """
        with closing(Patience(self.timeouts)) as patience:
            stream = await self._open(request, patience)
            reader = CompletionReader()
            try:
                with self._translated_errors(in_stream=True):
                    async with aclosing(_events(stream.response, patience)) as events:
                        async for data in events:
                            for event in reader.read(_chunk(data)):
                                yield event
                if not reader.has_begun:
                    raise _nothing_came(stream.response)
            except CompletionError:
                # Only the usage comes after a finish reason: a reply that is whole stays whole.
                if reader.finish_reason is None:
                    raise
            finally:
                await stream.close()
        yield reader.end(request_id=_request_id(stream.response))

    async def aclose(self) -> None:
        """Close all connections."""
        await self._openai.close()

    async def _open(self, request: CompletionRequest, patience: Patience) -> AsyncStream[object]:
        """Send the request and return once the provider has accepted it."""
        with self._translated_errors(in_stream=False), patience:
            return await self._openai.post(
                "/chat/completions",
                cast_to=object,
                body=request.to_wire(base_url=self.base_url),
                stream=True,
                stream_cls=AsyncStream[object],
            )

    @contextmanager
    def _translated_errors(self, *, in_stream: bool) -> Iterator[None]:
        try:
            yield
        except _KNOWN as exc:
            error = to_completion_error(exc, in_stream=in_stream)
            if len(self._api_key) >= _SHORTEST_KEY:
                error.detail = error.detail.replace(self._api_key, "…")
            raise error from exc


async def _events(response: httpx2.Response, patience: Patience) -> AsyncGenerator[str]:
    """Yield the data of each event up to `[DONE]`."""
    # Streams are rarely compressed, and looking for what to decompress in every piece takes as long as reading it.
    pieces = response.aiter_bytes() if "content-encoding" in response.headers else response.aiter_raw()
    reader = EventReader()
    while True:
        with patience:
            piece = await anext(pieces, None)
        if piece is None:
            return
        for data in reader.feed(piece):
            if data.startswith(b"[DONE]"):
                await _read_to_end(pieces)
                return
            patience.chunk_came()
            yield data.decode()


def _chunk(data: str) -> object:
    """Return the chunk as the object that its JSON is. Raises the `CompletionError` that was sent in its place."""
    chunk: object = json.loads(data)
    if refusal := refusal_inside(chunk):
        raise refusal_error(refusal)
    return chunk


async def _read_to_end(pieces: AsyncIterator[bytes]) -> None:
    """Leave a connection that can be used again; who does not end the stream at once gets a new one."""
    with suppress(*_KNOWN):
        async with asyncio.timeout(LAST_BYTE_SECONDS):
            async for _ in pieces:
                pass


def to_completion_error(exc: Exception, *, in_stream: bool = False) -> CompletionError:
    """Return the error of our tree that *exc* amounts to; *in_stream* when the provider had already accepted."""
    if isinstance(exc, openai.APIStatusError):
        return refusal_error(_refusal_of(exc))
    if isinstance(exc, openai.APIError) and not isinstance(exc, _WITHOUT_REFUSAL):
        return refusal_error(Refusal(exc.message, body=exc.body))
    cause = _cause_of(exc)
    error = next(error for known, error in _ERRORS.items() if isinstance(cause, known))
    if in_stream and error is ProviderUnavailable:
        error = StreamBroken
    return error(detail=redact(f"{type(cause).__name__}: {str(cause) or 'nothing came in time'}"))


def _cause_of(exc: Exception) -> Exception:
    """Return what lies at the bottom: the transport calls a reset connection a timeout, its cause does not."""
    cause = exc
    while isinstance(below := cause.__cause__, _KNOWN):
        cause = below
    return cause


def _refusal_of(exc: openai.APIStatusError) -> Refusal:
    return Refusal(
        exc.message,
        status_code=exc.status_code,
        body=exc.body,
        retry_after_seconds=retry_after_seconds(exc.response.headers, now=dt.datetime.now(dt.UTC)),
        request_id=_request_id(exc.response),
    )


def _nothing_came(response: httpx2.Response) -> CompletionError:
    """Return the error of a stream without one chunk: cut if it was a stream at all, else a page or plain JSON."""
    content_type = response.headers.get("content-type", "")
    if content_type.startswith("text/event-stream"):
        return StreamBroken(detail="the stream ended before its first chunk", request_id=_request_id(response))
    return MalformedStream(detail=f"the answer is {content_type!r}, not a stream", request_id=_request_id(response))


def _request_id(response: httpx2.Response) -> str:
    return response.headers.get("x-request-id") or response.headers.get("request-id") or ""


def _http_client() -> httpx2.AsyncClient:
    """Return a client on aiohttp, which stays linear with many connections. A redirect would carry the prompt away."""
    return DefaultAioHttpClient(
        follow_redirects=False,
        limits=httpx2.Limits(max_connections=CONNECTIONS, max_keepalive_connections=100),
    )
