"""The list of models of a provider: `GET {base URL}/models`, one attempt, told as it went.

For an operator who wants to know what is wrong with address, key or certificate: nothing that a reply needs.
"""

from __future__ import annotations

import datetime as dt
import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Literal

import httpx2

from conversations.providers.egress.destinations import has_credentials
from conversations.providers.openai_api.provider_errors import redact

ANSWER_SECONDS = 8.0
MOST_BYTES = 8 * 2**20
Fault = Literal["address", "credentials", "name", "certificate", "tls", "refused", "silent", "broken"]


@dataclass(frozen=True, slots=True)
class ModelList:
    """What came: *fault* if there was no answer, with *detail*; else the *status*, and the *names* if it was a list.

    *location* is where it sends on to, *date* what its clock says.
    """

    fault: Fault | None = None
    detail: str = ""
    status: int = 0
    names: tuple[str, ...] | None = None
    location: str = ""
    date: dt.datetime | None = None


def list_models(base_url: str, api_key: str, *, timeout_seconds: float = ANSWER_SECONDS) -> ModelList:
    """Ask the provider at *base_url* once. Proxies and certificates are taken from the environment, as for replies."""
    if has_credentials(base_url):
        return ModelList("credentials")  # it might answer, but no request for a reply could be made
    headers = {"accept": "application/json", "accept-encoding": "identity", "user-agent": "windowseat"}
    if api_key:
        headers["authorization"] = f"Bearer {api_key}"
    try:
        with (
            closing(httpx2.Client(timeout=timeout_seconds, follow_redirects=False)) as client,
            client.stream("GET", f"{base_url.rstrip('/')}/models", headers=headers) as response,
        ):
            return _read(response)
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError) as error:
        return ModelList("address", redact(str(error)))
    except (httpx2.HTTPError, OSError, ValueError) as error:
        return _fault_of(error)


def _read(response: httpx2.Response) -> ModelList:
    content = b""
    for piece in response.iter_bytes():
        content += piece
        if len(content) > MOST_BYTES:
            return ModelList("broken", f"its list is larger than {MOST_BYTES:,} bytes")
    return ModelList(
        status=response.status_code,
        detail=redact(content[:300].decode(errors="replace")),
        names=_names(content) if response.status_code == 200 else None,
        location=response.headers.get("location", ""),
        date=_date(response.headers.get("date", "")),
    )


def _names(content: bytes) -> tuple[str, ...] | None:
    """Return the ids in OpenAI's list; None if it is no such list."""
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        return None
    listed = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        return None
    return tuple(each["id"] for each in listed if isinstance(each, dict) and isinstance(each.get("id"), str))


def _date(written: str) -> dt.datetime | None:
    try:
        date = parsedate_to_datetime(written)
    except (ValueError, TypeError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=dt.UTC)


def _fault_of(error: Exception) -> ModelList:
    for cause in _causes(error):
        match cause:
            case ssl.SSLCertVerificationError():
                return ModelList("certificate", cause.verify_message)
            case ssl.SSLError():
                return ModelList("tls", cause.reason or str(cause))
            case socket.gaierror():
                return ModelList("name", cause.strerror or "")
            case ConnectionRefusedError():
                return ModelList("refused")
            case TimeoutError() | httpx2.TimeoutException():
                return ModelList("silent")
    return ModelList("broken", redact(f"{type(error).__name__}: {error}"))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield what is beneath *error*, the deepest first."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    yield from reversed(chain)
