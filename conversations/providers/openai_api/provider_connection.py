"""The connection to a provider, its timeouts, and its errors translated into our own."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final

import aiohttp
import httpx2

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
from conversations.providers.egress.destinations import EgressRefused

from .network_transport import NetworkClient
from .provider_errors import Refusal, leave_out_words, redact, refusal_error, retry_after_seconds

_HEADERS: Final = {"accept": "application/json", "content-type": "application/json", "user-agent": "windowseat"}
_SHORTEST_KEY: Final = 8  # what is shorter is a word such as "none", and may stand in a log


class NotAnswered(Exception):
    """A request got no answer; its cause says why. One that is not known counts as `ProviderUnavailable`."""


class Refused(Exception):
    """An answer whose status is not one of success, read whole: *body* is its JSON, or its text if it is none."""

    def __init__(self, response: httpx2.Response, body: object) -> None:
        super().__init__(f"Error code: {response.status_code}")
        self.response = response
        self.body = body


# All that a request can raise. The order matters: the first class that fits decides.
_ERRORS: Final[dict[type[Exception], type[CompletionError]]] = {
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
    NotAnswered: ProviderUnavailable,
}
KNOWN_ERRORS: Final[tuple[type[Exception], ...]] = (*_ERRORS, Refused)
_DEPTH_OF_WORDS: Final = 8  # at which a refusal's body is read; Mistral's are at five


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
        self._api_key = api_key or "none"  # servers that need none, such as Ollama, do not look at it
        self._base_url = httpx2.URL(base_url)
        # Callers bound the other waits: the transport's timer would start again at every comment line.
        self._timeout = httpx2.Timeout(None, connect=connect_seconds, pool=connect_seconds)
        self._client = http_client or NetworkClient()

    async def post(self, path: str, body: Mapping[str, Any]) -> httpx2.Response:
        """Return the whole answer. Raises what `translated_errors` knows."""
        return await self._send(path, body, is_streamed=False)

    async def open_stream(self, path: str, body: Mapping[str, Any]) -> httpx2.Response:
        """Return the answer as soon as the provider has accepted the request. Raises what `translated_errors` knows."""
        return _without_body(await self._send(path, body, is_streamed=True))

    async def _send(self, path: str, body: Mapping[str, Any], *, is_streamed: bool) -> httpx2.Response:
        request = self._client.build_request(
            "POST",
            _join(self._base_url, path),
            content=json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(),
            headers={**_HEADERS, "authorization": f"Bearer {self._api_key}"},
            timeout=self._timeout,
        )
        try:
            response = await self._client.send(request, stream=is_streamed)
        except Exception as exc:
            raise NotAnswered from exc
        if not response.is_success:
            raise Refused(response, await _refusal_body(response))
        return response

    @contextmanager
    def translated_errors(self, sent: Callable[[], Iterable[str]], *, in_stream: bool = False) -> Iterator[None]:
        """Raise the errors of our tree in place of the network's, without the key and words of the texts *sent*."""
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
        await self._client.aclose()


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
    if isinstance(exc, Refused):
        return refusal_error(_refusal(exc))
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


def _refusal(refused: Refused) -> Refusal:
    body = refused.body.get("error", refused.body) if isinstance(refused.body, Mapping) else refused.body
    told = body.get("message") if isinstance(body, Mapping) else None
    words = ["-", told] if isinstance(told, str) and told else _words_of(body)
    return Refusal(
        " ".join([str(refused), *words]),
        status_code=refused.response.status_code,
        body=body,
        retry_after_seconds=retry_after_seconds(refused.response.headers, now=dt.datetime.now(dt.UTC)),
        request_id=provider_request_id(refused.response),
    )


async def _refusal_body(response: httpx2.Response) -> object:
    """Return the JSON of a refusal, or its text where that is none; nothing of one that breaks off: it has a status."""
    try:
        await response.aread()
    except Exception:
        return ""
    finally:
        await response.aclose()
    text = response.text.strip()
    try:
        body: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return body


def _words_of(body: object, *, depth: int = 0) -> Iterator[str]:
    """Yield what a refusal says whose `message` is no text.

    As Mistral and all on FastAPI write it, {"detail": [{"loc": ["body", "stream_options"], "msg", "input"}]}: what was
    sent, which is quoted there, is left out.
    """
    if isinstance(body, str):
        yield body
        return
    within: Iterable[object] = body if isinstance(body, list) else ()
    if isinstance(body, Mapping):
        within = (body.get(name) for name in ("message", "detail", "error", "loc", "msg"))
    if depth < _DEPTH_OF_WORDS:
        for each in within:
            yield from _words_of(each, depth=depth + 1)


def _join(base_url: httpx2.URL, path: str) -> httpx2.URL:
    """Return the address of *path*, which begins with a slash, below *base_url*, whose query stays."""
    folder, mark, query = base_url.raw_path.partition(b"?")
    return base_url.copy_with(raw_path=folder.removesuffix(b"/") + path.encode() + mark + query)


def _without_body(response: httpx2.Response) -> httpx2.Response:
    """Let *response* forget what was sent: a prompt with pictures has megabytes, and a reply streams for minutes."""
    response.request = httpx2.Request(response.request.method, response.request.url)
    return response


def provider_request_id(response: httpx2.Response) -> str:
    return response.headers.get("x-request-id") or response.headers.get("request-id") or ""
