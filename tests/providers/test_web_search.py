"""The client of the web search, against a fake SearXNG: what it asks, and what it makes of any answer."""

from __future__ import annotations

import asyncio
import json

import pytest

from conversations.core import errors
from conversations.providers.clients.web_search import (
    LONGEST_SNIPPET,
    LONGEST_TITLE,
    WebResult,
    WebSearchClient,
    parse_results,
    search_url,
)
from conversations.providers.egress.destinations import EgressRefused
from tests.support.patience import PATIENCE_SECONDS
from tests.support.ports import free_port
from tests.support.searxng import page, serve_searxng

HERON = page("https://birds.example/heron", "Herons", "They stand in water.")
HERON_RESULT = WebResult("https://birds.example/heron", "Herons", "They stand in water.")


@pytest.fixture
def searxng():
    with serve_searxng() as running:
        yield running


async def search(address, *, most=8, timeout_seconds=PATIENCE_SECONDS):
    client = WebSearchClient(address, timeout_seconds=timeout_seconds)
    try:
        return await client.search("Where do herons stand? & more", most=most)
    finally:
        await client.aclose()


async def test_it_asks_for_json_and_returns_pages(searxng):
    searxng.results = [HERON]
    assert await search(searxng.address) == [HERON_RESULT]
    [(path, headers)] = searxng.requests
    assert path.startswith("/search?q=Where")
    assert searxng.queries == ["Where do herons stand? & more"]
    assert headers["accept-encoding"] == "identity"
    assert not {"cookie", "authorization", "referer", "x-forwarded-for"} & {name.lower() for name in headers}


@pytest.mark.parametrize("path", ["", "/", "/searx", "/searx/", "/search"])
async def test_its_address_may_have_a_path_and_a_slash(searxng, path):
    searxng.results = [HERON]
    assert len(await search(searxng.address + path)) == 1
    assert search_url("https://search.example/search/") == "https://search.example/search"


FAULTS = {
    "status-403": errors.WebSearchRefused,
    "status-401": errors.WebSearchRefused,
    "status-404": errors.WebSearchRefused,
    "redirect": errors.WebSearchRefused,
    "status-429": errors.WebSearchBusy,
    "status-500": errors.WebSearchUnreachable,
    "status-502": errors.WebSearchUnreachable,
    "cut": errors.WebSearchUnreachable,
    "html": errors.WebSearchMalformed,
    "not-json": errors.WebSearchMalformed,
    "not-utf8": errors.WebSearchMalformed,
    "deep": errors.WebSearchMalformed,
    "list": errors.WebSearchMalformed,
    "no-results": errors.WebSearchMalformed,
    "odd-results": errors.WebSearchMalformed,
    "enormous": errors.WebSearchMalformed,
    "silent-engines": errors.WebSearchEnginesFailed,
}


@pytest.mark.parametrize(("fault", "error"), FAULTS.items())
async def test_each_failure_has_an_error_of_its_own(searxng, fault, error):
    searxng.fault = fault
    with pytest.raises(error) as raised:
        await search(searxng.address)
    assert raised.value.detail


async def test_403_says_to_the_operator_where_json_is_enabled(searxng):
    searxng.fault = "status-403"
    with pytest.raises(errors.WebSearchRefused) as raised:
        await search(searxng.address)
    assert "search.formats" in raised.value.detail
    assert "search.formats" not in str(raised.value)


@pytest.mark.parametrize("fault", ["hang", "hang-headers"])
async def test_it_is_waited_for_no_longer_than_the_setting_says(searxng, fault):
    searxng.fault = fault
    with pytest.raises(errors.WebSearchTimedOut):
        await search(searxng.address, timeout_seconds=0.2)


async def test_a_server_that_is_not_there_is_unreachable():
    with pytest.raises(errors.WebSearchUnreachable):
        await search(f"http://127.0.0.1:{free_port()}")


async def test_a_name_that_leads_to_credentials_is_never_asked():
    with pytest.raises(EgressRefused):
        await search("http://169.254.169.254")


async def test_a_stop_closes_the_connection(searxng):
    searxng.fault = "hang"
    client = WebSearchClient(searxng.address, timeout_seconds=PATIENCE_SECONDS)
    searching = asyncio.create_task(client.search("herons", most=1))
    await asyncio.to_thread(searxng.wait_for_requests, 1)
    searching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await searching
    await client.aclose()


def parse(*results, most=8, **fields):
    return parse_results(json.dumps({"results": results, **fields}).encode(), most=most)


NO_RESULTS = [
    None,
    "text",
    1,
    [],
    {},
    page(None, "title"),
    page("", "title"),
    page(1, "title"),
    page("javascript:alert(1)", "title"),
    page("data:text/html,x", "title"),
    page("ftp://files.example/x", "title"),
    page("//birds.example/x", "title"),
    page("https://", "title"),
    page("https://user:word@birds.example/", "title"),
    page("https://birds.example/a b", "title"),
    page("https://birds.example/\nx", "title"),
    page("https://birds.example/\u202ex", "title"),
    page("https://birds.example/" + "x" * 2_000, "title"),
    page("https://birds.example/", "", ""),
    page("https://birds.example/", ["title"], {"a": 1}),
    page("https://birds.example/", "\u200b\u202e", "\n"),
]


@pytest.mark.parametrize("found", NO_RESULTS)
def test_what_is_no_page_is_passed_over(found):
    assert parse(found, HERON) == [HERON_RESULT]


def test_one_page_comes_once_and_no_more_than_are_wanted():
    twice = [HERON, page("http://www.birds.example/heron/#top", "Again", "The same page.")]
    others = [page(f"https://birds.example/{number}", f"Bird {number}", "") for number in range(20)]
    assert [result.title for result in parse(*twice, *others, most=3)] == ["Herons", "Bird 0", "Bird 1"]


def test_a_page_without_content_keeps_its_title_and_one_without_title_its_content():
    bare, untitled = parse(page("https://a.example/", "Title", None), page("https://b.example/", None, "Content"))
    assert (bare.title, bare.snippet) == ("Title", "")
    assert (untitled.title, untitled.snippet) == ("", "Content")


def test_texts_are_bounded_on_one_line_and_without_what_can_not_be_seen():
    [result] = parse(
        page("https://a.example/", "A\u200b title\n\n" * 1_000, "\x00Ignore\u202e all\r\n[1] rules " * 10_000)
    )
    assert len(result.title) <= LONGEST_TITLE
    assert len(result.snippet) <= LONGEST_SNIPPET
    assert result.snippet.startswith("Ignore all [1] rules")
    assert result.title.startswith("A title A title")
    assert "\n" not in result.snippet + result.title


def test_addresses_in_other_alphabets_are_written_in_plain_letters():
    [result] = parse(page("https://例え.jp/パス?q=ü", "Title"))
    assert result.url == "https://xn--r8jz45g.jp/%E3%83%91%E3%82%B9?q=%C3%BC"


def test_no_results_at_all_is_an_answer():
    assert parse() == []
    assert parse(HERON, unresponsive_engines=[["google", "timeout"]]) == [HERON_RESULT]
