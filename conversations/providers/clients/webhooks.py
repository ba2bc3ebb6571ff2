"""The client of webhooks: one POST to a receiver, guarded as all requests to addresses that people name.

Of the answer only the status is read. Redirects are not followed, and no more than a moment is waited.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import aiohttp
import httpx2
from aiohttp.abc import AbstractResolver

from conversations.core.errors.error_messages import gettext_noop
from conversations.core.text.invisible_characters import keep_visible
from conversations.providers.egress.destinations import (
    INSIDE,
    Destination,
    EgressRefused,
    named_destination,
    parse_destination,
)
from conversations.providers.egress.streaming_transport import StreamingEgressTransport

SECONDS = 10.0
MOST_BYTES = 0  # of an answer's body
HEADERS = {"content-type": "application/json", "accept-encoding": "identity", "user-agent": "windowseat"}


@dataclass(frozen=True, slots=True)
class WebhookAnswer:
    """What became of a POST: the HTTP status, and what went wrong.

    *error* is one of `timeout`, `unreachable`, `redirect`, `inside` (a private address), `refused`, `status` and
    `secret_lost`; of a refused one *detail* is a sentence that the catalogs translate.
    """

    status: int | None = None
    error: str = ""
    detail: str = ""

    @property
    def is_success(self) -> bool:
        return not self.error


HTTPS_NEEDED = gettext_noop("Enter an address that begins with https://.")


def webhook_destination(url: str, *, named_hosts: Collection[str] = (), is_named: bool = False) -> Destination:
    """Return where a webhook at *url* is; *is_named* if the operator wrote the address itself.

    Raises `EgressRefused`, also for http:// to a host that is not named.
    """
    destination = named_destination(url) if is_named else parse_destination(url, named_hosts=named_hosts)
    if destination.scheme != "https" and not destination.is_named:
        raise EgressRefused(HTTPS_NEEDED)
    return destination


async def send_webhook(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    named_hosts: Collection[str] = (),
    is_named: bool = False,
    seconds: float = SECONDS,
    resolver: AbstractResolver | None = None,
) -> WebhookAnswer:
    """POST *body* to *url* and return what became of it. Raises nothing but a cancellation.

    *resolver* takes the system's place.
    """
    status = 0
    try:
        destination = webhook_destination(url, named_hosts=named_hosts, is_named=is_named)
        transport = StreamingEgressTransport(destination, most_bytes=MOST_BYTES, resolver=resolver)
        client = httpx2.AsyncClient(transport=transport, follow_redirects=False, trust_env=False, timeout=seconds)
        try:
            async with asyncio.timeout(seconds):
                async with client.stream("POST", url, content=body, headers={**HEADERS, **headers}) as response:
                    status = response.status_code
        finally:
            status = transport.last_status or status
            await client.aclose()
    except Exception as error:
        return _answer_of(status) if 200 <= status < 300 else _failure(status, error)
    return _answer_of(status)


def _answer_of(status: int) -> WebhookAnswer:
    return WebhookAnswer(status, "" if 200 <= status < 300 else "status")


def _failure(status: int, error: Exception) -> WebhookAnswer:
    if 300 <= status < 400:
        return WebhookAnswer(status, "redirect")
    if status:
        return WebhookAnswer(status, "status")
    refused = _refusal(error)
    if refused is not None:
        return WebhookAnswer(error="inside") if refused == INSIDE else WebhookAnswer(error="refused", detail=refused)
    if isinstance(error, TimeoutError | httpx2.TimeoutException):
        return WebhookAnswer(error="timeout")
    detail = type(error).__name__
    if isinstance(error, aiohttp.ClientConnectorError):
        detail = keep_visible(str(error.os_error)[:200])
    return WebhookAnswer(error="unreachable", detail=detail)


def _refusal(error: BaseException | None) -> str | None:
    """Return why the guard refused, looked for in all causes of *error*; None where it did not."""
    while error is not None:
        if isinstance(error, EgressRefused):
            return str(error)
        os_error = getattr(error, "os_error", None)
        if isinstance(os_error, EgressRefused):
            return str(os_error)
        error = error.__cause__ or error.__context__
    return None
