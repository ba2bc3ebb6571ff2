"""The connection to a provider, its timeouts, and its errors translated into our own. The only importer of openai."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Final

import aiohttp
import httpx2
import openai
from openai import AsyncOpenAI, AsyncStream, DefaultAioHttpClient

from chatsite.health.exhaustion import exhaustion_of, find_exhaustion
from conversations.core.errors import (
    CompletionError,
    MalformedStream,
    ProviderRejected,
    ProviderTimedOut,
    ProviderUnavailable,
    StreamBroken,
    WorkerExhausted,
)
from conversations.providers.egress.answer_limits import PLAIN_HEADERS, limit_answer
from conversations.providers.egress.broken_answers import KeptResponse
from conversations.providers.egress.destinations import EgressRefused
from conversations.providers.egress.unasked_answers import AskedConnector

from .provider_errors import Refusal, leave_out_words, redact, refusal_error, retry_after_seconds

# The aiohttp transport reads "no limit" as its own default of 100 connections, so a number has to be named.
CONNECTIONS: Final = 10_000
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
    httpx2.ConnectTimeout: ProviderUnavailable,  # nothing was sent
    httpx2.PoolTimeout: ProviderUnavailable,
    aiohttp.ConnectionTimeoutError: ProviderUnavailable,
    httpx2.TimeoutException: ProviderTimedOut,
    httpx2.HTTPError: ProviderUnavailable,
    httpx2.StreamError: ProviderUnavailable,
    TimeoutError: ProviderTimedOut,
    EgressRefused: ProviderRejected,
    aiohttp.ClientError: ProviderUnavailable,
    OSError: ProviderUnavailable,
    UnicodeEncodeError: ProviderRejected,  # a lone surrogate can't be sent
    ValueError: MalformedStream,  # neither JSON nor UTF-8
    RecursionError: MalformedStream,  # JSON that is nested more deeply than anything that is meant
}
KNOWN_ERRORS: Final = tuple(_ERRORS)
_DEPTH_OF_WORDS: Final = 8  # at which a refusal's body is read; Mistral's are at five
# The package's other API errors hold the provider's own error object, sent as an answer or inside the stream.
_WITHOUT_REFUSAL: Final = (openai.APIConnectionError, openai.APIResponseValidationError)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long to wait: for a connection, for the first chunk, between two chunks, and for the whole attempt.

    *alive_seconds* is how long a wait for a chunk may take at a provider that goes on saying that it is alive, by
    comments: it loads the model, or reads a long prompt.
    """

    connect_seconds: float = 10
    first_byte_seconds: float = 60
    idle_seconds: float = 60
    total_seconds: float = 900
    alive_seconds: float = 300


class ProviderConnection:
    """A connection to the provider at *base_url*; *http_client* replaces the network. Nothing is retried."""

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        *,
        connect_seconds: float,
        http_client: httpx2.AsyncClient | None = None,
    ) -> None:
        # The package insists on a key; servers that need none, such as Ollama, do not look at it.
        self._api_key = api_key or "none"
        self._openai = AsyncOpenAI(
            base_url=base_url,
            api_key=self._api_key,
            max_retries=0,
            # Callers bound the other waits: the transport's timer would start again at every comment line.
            timeout=httpx2.Timeout(None, connect=connect_seconds, pool=connect_seconds),
            http_client=http_client or _http_client(),
        )

    async def post(self, path: str, body: Mapping[str, Any]) -> httpx2.Response:
        """Return the whole answer. Raises what `translated_errors` knows."""
        return await self._openai.post(path, cast_to=httpx2.Response, body=body)

    async def open_stream(self, path: str, body: Mapping[str, Any]) -> httpx2.Response:
        """Return the answer as soon as the provider has accepted the request. Raises what `translated_errors` knows."""
        stream = await self._openai.post(path, cast_to=object, body=body, stream=True, stream_cls=AsyncStream[object])
        return _without_body(stream.response)

    @contextmanager
    def translated_errors(self, sent: Callable[[], Iterable[str]], *, in_stream: bool = False) -> Iterator[None]:
        """Raise the errors of our tree in place of the package's, without the key and words of the texts *sent*."""
        try:
            yield
        except CompletionError as known:
            self._clean_detail(known, sent)
            raise
        except KNOWN_ERRORS as exc:
            error = to_completion_error(exc, in_stream=in_stream)
            self._clean_detail(error, sent)
            raise error from exc

    def _clean_detail(self, error: CompletionError, sent: Callable[[], Iterable[str]]) -> None:
        if len(self._api_key) >= _SHORTEST_KEY:
            error.detail = error.detail.replace(self._api_key, "…")
        error.detail = leave_out_words(error.detail, sent())

    async def aclose(self) -> None:
        """Close all connections."""
        await self._openai.close()


class StreamTimeout:
    """Bounds the waits of one attempt, which begins when this is made: `with waits: piece = await …`.

    A wait that takes too long raises `TimeoutError`, as within `asyncio.timeout`. Only time spent
    waiting counts: a reply may be slow to be used. One timer serves all waits and checks, when it goes off, how much
    time is left: a timer for each wait was a tenth of what a streamed reply costs.
    """

    def __init__(self, timeouts: Timeouts) -> None:
        self._loop = asyncio.get_running_loop()
        self._idle_seconds = timeouts.idle_seconds
        self._end_at = self._loop.time() + timeouts.total_seconds
        self._alive_seconds = timeouts.alive_seconds
        self._silence_seconds = self._allowed_seconds = timeouts.first_byte_seconds
        self._waited_seconds = 0.0  # since the last chunk, before the wait that goes on
        self._waiting: asyncio.Task[object] | None = None
        self._waiting_since = 0.0
        self._cancelled_before = 0
        self._is_over = False
        self._schedule_check(min(timeouts.first_byte_seconds, timeouts.total_seconds))

    def restart(self) -> None:
        """A chunk has come: begin to wait for the next."""
        self._silence_seconds = self._allowed_seconds = self._idle_seconds
        self._waited_seconds = 0.0

    def extend(self) -> None:
        """Something has come that is no chunk, such as a comment: wait as long again, up to the limit for that."""
        extended_seconds = min(self._waited_seconds + self._silence_seconds, self._alive_seconds)
        self._allowed_seconds = max(self._allowed_seconds, extended_seconds)

    def close(self) -> None:
        self._timer.cancel()

    def __enter__(self) -> None:
        if self._is_over:
            raise TimeoutError
        self._waiting_since = self._loop.time()
        self._waiting = asyncio.current_task(self._loop)
        self._cancelled_before = self._waiting.cancelling() if self._waiting else 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        waited, self._waiting = self._waiting, None
        self._waited_seconds += self._loop.time() - self._waiting_since
        if self._is_over and waited and waited.uncancel() <= self._cancelled_before and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def _check(self) -> None:
        if self._waiting is None:
            if (left_seconds := self._end_at - self._loop.time()) > 0:
                self._schedule_check(min(left_seconds, self._idle_seconds))
            else:
                self._is_over = True  # a provider that always has something to be read is never waited for
        elif (left_seconds := self._left_seconds(self._loop.time())) > 0:
            self._schedule_check(left_seconds)
        else:
            self._is_over = True
            self._waiting.cancel()

    def _left_seconds(self, now: float) -> float:
        waited_seconds = self._waited_seconds + now - self._waiting_since
        return min(self._allowed_seconds - waited_seconds, self._end_at - now)

    def _schedule_check(self, seconds: float) -> None:
        self._timer = self._loop.call_later(seconds, self._check)


def to_completion_error(exc: Exception, *, in_stream: bool = False) -> CompletionError:
    """Return the error of our tree for *exc*; *in_stream* when the provider had already accepted the request."""
    if isinstance(exc, openai.APIStatusError):
        return refusal_error(_refusal(exc))
    if isinstance(exc, openai.APIError) and not isinstance(exc, _WITHOUT_REFUSAL):
        return refusal_error(Refusal(exc.message, body=exc.body))
    cause = _innermost_cause(exc)
    error = next(error for known, error in _ERRORS.items() if isinstance(cause, known))
    if error is ProviderUnavailable and not in_stream and (lacking := exhaustion_of(exc) or find_exhaustion()):
        return WorkerExhausted(detail=lacking)
    if in_stream and error is ProviderUnavailable:
        error = StreamBroken
    return error(detail=redact(f"{type(cause).__name__}: {str(cause) or 'nothing came in time'}"))


def find_refusal(chunk: object) -> Refusal | None:
    """Return the refusal sent in place of a chunk or an answer, None if there is none.

    It is `{"error": {"message": …}}` or, by older vLLM, the error itself.
    """
    if not isinstance(chunk, dict):
        return None
    error = chunk.get("error") or (chunk if "error" in (chunk.get("object"), chunk.get("type")) else None)
    if not error:
        return None
    message = error.get("message") if isinstance(error, Mapping) else error
    return Refusal(str(message or "error in the stream"), body=error)


def _innermost_cause(exc: Exception) -> Exception:
    """Return the innermost cause: the transport calls a reset connection a timeout, its cause does not."""
    cause = exc
    while isinstance(below := cause.__cause__, KNOWN_ERRORS):
        cause = below
    return cause


def _refusal(exc: openai.APIStatusError) -> Refusal:
    return Refusal(
        " ".join([exc.message, *_unread_words(exc.body)]),
        status_code=exc.status_code,
        body=exc.body,
        retry_after_seconds=retry_after_seconds(exc.response.headers, now=dt.datetime.now(dt.UTC)),
        request_id=provider_request_id(exc.response),
    )


def _unread_words(body: object) -> Iterator[str]:
    """Yield what a refusal says where the package finds nothing: it reads a `message` that is text, and no other shape.

    As Mistral and all on FastAPI write it, {"detail": [{"loc": ["body", "stream_options"], "msg", "input"}]}: what was
    sent, which is quoted there, is left out.
    """
    if not (isinstance(body, Mapping) and isinstance(body.get("message"), str) and body["message"]):
        yield from _words_of(body)


def _words_of(body: object, *, depth: int = 0) -> Iterator[str]:
    if isinstance(body, str):
        yield body
        return
    within: Iterable[object] = body if isinstance(body, list) else ()
    if isinstance(body, Mapping):
        within = (body.get(name) for name in ("message", "detail", "error", "loc", "msg"))
    if depth < _DEPTH_OF_WORDS:
        for each in within:
            yield from _words_of(each, depth=depth + 1)


def _without_body(response: httpx2.Response) -> httpx2.Response:
    """Let *response* forget what was sent: a prompt with pictures has megabytes, and a reply streams for minutes."""
    response.request = httpx2.Request(response.request.method, response.request.url)
    return response


def provider_request_id(response: httpx2.Response) -> str:
    return response.headers.get("x-request-id") or response.headers.get("request-id") or ""


def _http_client() -> httpx2.AsyncClient:
    """Return a client on aiohttp, which stays linear with many connections. A redirect would carry the prompt away."""
    client = DefaultAioHttpClient(
        follow_redirects=False,
        headers=PLAIN_HEADERS,
        event_hooks={"response": [limit_answer]},
        limits=httpx2.Limits(max_connections=CONNECTIONS, max_keepalive_connections=100),
    )
    transports: list[Any] = [client._transport, *client._mounts.values()]  # the others are of HTTPS_PROXY and its like
    for transport in filter(None, transports):
        transport.client = partial(_open_session, transport)
    return client


def _open_session(transport: Any) -> aiohttp.ClientSession:
    """Return the session that the package would make for *transport*, with a connector of ours."""
    limits: httpx2.Limits = transport.limits
    connector = AskedConnector(
        keepalive_timeout=limits.keepalive_expiry, ssl=transport.ssl_context, limit=limits.max_connections or 0
    )
    return aiohttp.ClientSession(connector=connector, response_class=KeptResponse)
