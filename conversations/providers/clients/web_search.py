"""The client of the web search: one request to a SearXNG by its JSON address, and an answer that is not believed.

    GET {WEB_SEARCH_URL}/search?q=…&format=json → {"results": [{"url", "title", "content"}, …],
                                                   "unresponsive_engines": [[name, reason], …], …}

Source: https://docs.searxng.org/dev/search_api.html, checked 2026-11-23. Results are texts of strangers: of each only
an address, a title and a snippet are kept, bounded, on one line, without invisible characters.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import httpx2

from conversations.core.errors import (
    WebSearchBusy,
    WebSearchEnginesFailed,
    WebSearchError,
    WebSearchMalformed,
    WebSearchRefused,
    WebSearchTimedOut,
    WebSearchUnreachable,
)
from conversations.core.text.invisible_characters import keep_visible
from conversations.providers.egress.destinations import EgressRefused, named_destination
from conversations.providers.egress.transport import AnswerTooLarge, EgressTransport

MOST_ANSWER_BYTES = 2 * 2**20  # some engines send hundreds of results; the JSON is read in one go
LONGEST_TITLE = 200
LONGEST_SNIPPET = 1_000
LONGEST_URL = 2_000
LONGEST_DETAIL = 200
# Not compressed: a small answer could become a huge one.
HEADERS = {"accept": "application/json", "accept-encoding": "identity", "user-agent": "windowseat"}
WAYS = {"http", "https"}


@dataclass(frozen=True, slots=True)
class WebResult:
    """A page that was found: its *url*, only http or https, its *title* and a *snippet* of its text, either blank."""

    url: str
    title: str
    snippet: str


class WebSearchClient:
    """The SearXNG at *base_url*, which the operator named. Belongs to one event loop. Raises `EgressRefused`."""

    def __init__(self, base_url: str, *, timeout_seconds: float) -> None:
        transport = EgressTransport(named_destination(base_url), most_bytes=MOST_ANSWER_BYTES)
        self._url = search_url(base_url)
        self._timeout_seconds = timeout_seconds
        self._http = httpx2.AsyncClient(
            transport=transport,
            headers=HEADERS,
            timeout=httpx2.Timeout(None, connect=timeout_seconds),
            follow_redirects=False,
            trust_env=False,
        )

    async def search(self, query: str, *, most: int) -> list[WebResult]:
        """Return the *most* best results for *query*, best first, each page once. Raises a `WebSearchError`."""
        with translated_errors():
            async with asyncio.timeout(self._timeout_seconds):
                response = await self._http.get(self._url, params={"q": query, "format": "json"})
                _require_success(response)
                return await asyncio.to_thread(parse_results, response.content, most=most)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()


def search_url(base_url: str) -> str:
    """Return the address to ask; *base_url* may end with a slash, or name it already."""
    bare = base_url.rstrip("/")
    return bare if bare.endswith("/search") else f"{bare}/search"


def parse_results(content: bytes, *, most: int) -> list[WebResult]:
    """Return the results of an answer. Raises `ValueError` or a `WebSearchError`.

    What is no result is passed over, and so is what names no page that may be opened.
    """
    try:
        answer = json.loads(content)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    found = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise ValueError("no list of results")
    results: dict[str, WebResult] = {}
    for each in found:
        if len(results) == most:
            break
        if isinstance(each, dict) and (result := _result(each)):
            results.setdefault(_page(result.url), result)
    if not found and (silent := answer.get("unresponsive_engines")):
        raise WebSearchEnginesFailed(detail=keep_visible(str(silent)[:LONGEST_DETAIL]))
    return list(results.values())


def _result(found: Mapping[str, Any]) -> WebResult | None:
    url, title = _address(found.get("url")), _line(found.get("title"), LONGEST_TITLE)
    snippet = _line(found.get("content"), LONGEST_SNIPPET)
    return WebResult(url, title, snippet) if url and (title or snippet) else None


def _line(value: object, longest: int) -> str:
    return keep_visible(value[: 2 * longest])[:longest].rstrip() if isinstance(value, str) else ""


def _address(value: object) -> str:
    """Return the address of a page in plain letters; blank for what is none, or tells who opens it."""
    if not isinstance(value, str) or len(value) > LONGEST_URL or keep_visible(value) != value or " " in value:
        return ""
    try:
        url = httpx2.URL(value)
        plain = str(url)
    except (httpx2.InvalidURL, UnicodeError, ValueError):
        return ""
    is_page = url.scheme in WAYS and url.host and not url.userinfo
    return plain if is_page and plain.isascii() and len(plain) <= LONGEST_URL else ""


def _page(url: str) -> str:
    """Return what two addresses of one page have in common."""
    return url.partition("#")[0].partition("://")[2].removeprefix("www.").rstrip("/")


def _require_success(response: httpx2.Response) -> None:
    status = response.status_code
    if status == httpx2.codes.OK:
        return
    detail = f"HTTP {status}"
    if status == httpx2.codes.TOO_MANY_REQUESTS:
        raise WebSearchBusy(detail=f"{detail}: its limiter counts requests for JSON; it must let this site pass")
    if status == httpx2.codes.FORBIDDEN:
        raise WebSearchRefused(detail=f"{detail}: is json among search.formats in its settings.yml?")
    raise (WebSearchUnreachable if status >= httpx2.codes.INTERNAL_SERVER_ERROR else WebSearchRefused)(detail=detail)


@contextmanager
def translated_errors() -> Iterator[None]:
    """Raise a `WebSearchError` for all that goes wrong."""
    try:
        yield
    except WebSearchError:
        raise
    except (TimeoutError, httpx2.TimeoutException) as error:
        raise WebSearchTimedOut(detail=_detail(error)) from error
    except aiohttp.ClientConnectorError as error:
        is_refused = isinstance(error.os_error, EgressRefused)
        raise (WebSearchRefused if is_refused else WebSearchUnreachable)(detail=_detail(error)) from error
    except (EgressRefused, httpx2.InvalidURL, aiohttp.InvalidURL) as error:
        raise WebSearchRefused(detail=_detail(error)) from error
    except (httpx2.HTTPError, aiohttp.ClientError, OSError) as error:
        raise WebSearchUnreachable(detail=_detail(error)) from error
    except (AnswerTooLarge, ValueError) as error:
        raise WebSearchMalformed(detail=_detail(error)) from error


def _detail(error: BaseException) -> str:
    return f"{type(error).__name__}: {keep_visible(str(error)[:LONGEST_DETAIL])}"
