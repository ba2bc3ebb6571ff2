"""Talking with MCP servers: a real one from the official SDK, and addresses that answer nonsense."""

from __future__ import annotations

import asyncio
import time

import pytest
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    InputRequiredResult,
    ListRootsRequest,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from conversations.core import errors
from conversations.core.tools.listed_tools import MOST_TOOLS
from conversations.providers.egress import streaming_transport as egress_streams
from conversations.providers.egress.streaming_transport import StreamingEgressTransport
from conversations.providers.mcp import client as mcp_client
from conversations.providers.mcp.client import open_sdk_session
from conversations.providers.mcp.process_protocol import McpConnection
from tests.support.hostile_addresses import INSIDE, NEVER, WRITTEN, Canary, Rebinding
from tests.support.mcp_server import NUMBERS, add, hang, said, serve_tools
from tests.support.ports import free_port

KINDS = {
    "modern": {},
    "modern, stateless, JSON": {"stateless_http": True, "json_response": True},
    "old": {"is_old": True},
    "old, JSON": {"is_old": True, "json_response": True},
    "old, stateless": {"is_old": True, "stateless_http": True},
}


@pytest.fixture(params=KINDS.values(), ids=KINDS.keys())
def server(request):
    with serve_tools(**request.param) as server:
        server.offer("add", add, NUMBERS)
        yield server


@pytest.fixture
def one_server():
    with serve_tools() as server:
        yield server


@pytest.fixture
def canary():
    canary = Canary()
    yield canary
    canary.close()
    assert canary.hits == 0


def connection_to(url, *, seconds=60, **options):
    return McpConnection(url, timeout_seconds=seconds, **{"named_hosts": ["127.0.0.1"], **options})


async def listed(url, **options):
    async with open_sdk_session(connection_to(url, **options)) as session:
        return await session.tools()


async def called(url, name, arguments=None, **options):
    async with open_sdk_session(connection_to(url, **options)) as session:
        return await session.call(name, arguments or {})


async def refused(awaitable, error):
    with pytest.raises(error) as raised:
        await awaitable
    assert type(raised.value) is error
    return raised.value.detail


async def test_it_lists_what_a_server_offers(server):
    server.offer("look", description="Looks.", read_only_hint=True)
    server.offer("burn", read_only_hint=True, destructive_hint=True)
    tools = await listed(server.url)
    assert [(tool.name, tool.read_only) for tool in tools] == [("add", False), ("look", True), ("burn", False)]
    assert (tools[0].parameters, tools[1].description) == (NUMBERS, "Looks.")


async def test_a_listing_of_many_pages_is_read_up_to_what_is_taken(one_server):
    for number in range(MOST_TOOLS + 250):
        one_server.offer(f"tool{number}")
    assert MOST_TOOLS < len(await listed(one_server.url)) < MOST_TOOLS + 250


async def test_it_calls_a_tool(server):
    assert await called(server.url, "add", {"a": 17, "b": 23}) == "40"
    assert server.calls == [("add", {"a": 17, "b": 23})]


async def test_what_the_server_says_went_wrong_is_for_the_model(server):
    async def fail(context, arguments):
        return said("There is no such file: a.txt", is_error=True)

    server.offer("fail", fail)
    assert await refused(called(server.url, "fail"), errors.ToolError) == "There is no such file: a.txt"


async def test_a_call_that_takes_too_long_is_ended(server):
    server.offer("hang", hang)
    await refused(called(server.url, "hang", seconds=1), errors.ToolTimedOut)


@pytest.mark.parametrize("kind", ["old", "modern"])
async def test_it_says_how_far_the_call_came(kind):
    with serve_tools(**KINDS[kind]) as server:
        server.offer("hang", hang)
        detail = await refused(called(server.url, "hang", seconds=8), errors.ToolTimedOut)
    assert detail == "It last said: 3 of 10 files read"


async def test_progress_prolongs_nothing(server):
    async def go_on(context, arguments):
        for done in range(10_000):
            await context.session.report_progress(done)
            await asyncio.sleep(0.02)

    server.offer("go_on", go_on)
    began = time.monotonic()
    await refused(called(server.url, "go_on", seconds=1), errors.ToolTimedOut)
    assert time.monotonic() - began < 100  # it would go on for twice as long


async def test_a_result_of_ten_megabytes_is_not_read_to_its_end(server):
    async def write(context, arguments):
        return said("x" * 10_000_000)

    server.offer("write", write)
    await refused(called(server.url, "write"), errors.ToolResultTooLarge)


async def test_a_large_result_is_taken_as_long_as_it_is_no_larger(server):
    async def write(context, arguments):
        return said("x" * 1_000_000)

    server.offer("write", write)
    assert await called(server.url, "write") == "x" * 1_000_000


async def test_a_server_that_goes_away_in_the_middle_is_unreachable(one_server):
    async def vanish(context, arguments):
        await context.session.report_progress(1)
        one_server.is_cut = True
        await context.session.report_progress(2)

    one_server.offer("vanish", vanish)
    await refused(called(one_server.url, "vanish"), errors.ToolUnreachable)


async def test_a_tool_that_is_gone_is_told_to_the_model(server):
    assert await refused(called(server.url, "gone"), errors.ToolError) == "Unknown tool: gone"


@pytest.mark.parametrize("kind", ["old", "old, JSON", "modern"])
async def test_a_stopped_call_is_stopped_there_too(kind):
    with serve_tools(**KINDS[kind]) as server:
        server.offer("hang", hang)
        calling = asyncio.create_task(called(server.url, "hang", seconds=600))
        while not server.calls:
            await asyncio.sleep(0.01)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        assert await asyncio.to_thread(server.ended.wait, 60)


async def test_each_connection_is_a_session_of_its_own_that_ends_with_it(one_server):
    with serve_tools(is_old=True) as server:
        server.offer("add", add, NUMBERS)
        for _ in range(2):
            await called(server.url, "add", {"a": 1, "b": 2})
        sessions = [headers["mcp-session-id"] for method, headers in server.requests if method == "DELETE"]
    assert len(set(sessions)) == 2


@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
async def test_a_server_that_asks_us_for_something_gets_nothing():
    answers = []

    async def ask(context, arguments):
        for ask_for in (context.session.list_roots, lambda: context.session.elicit("Your password?", {})):
            try:
                await ask_for()
            except Exception as error:
                answers.append(str(error))
        return said("asked")

    with serve_tools(is_old=True) as server:
        server.offer("ask", ask)
        assert await called(server.url, "ask") == "asked"
    assert len(answers) == 2


async def test_a_tool_that_wants_to_hear_more_is_not_understood():
    """As the protocol of 2026 asks us for something: in place of a result."""

    async def ask(context, arguments):
        return InputRequiredResult(input_requests={"roots": ListRootsRequest()}, request_state="x")

    with serve_tools() as server:
        server.offer("ask", ask)
        await refused(called(server.url, "ask"), errors.ToolUnreachable)
        assert len(server.calls) == 1


async def test_a_server_that_is_not_there_is_unreachable():
    detail = await refused(listed(f"http://127.0.0.1:{free_port()}/mcp"), errors.ToolUnreachable)
    assert "refused" in detail.lower()


async def test_the_authorization_goes_with_every_request():
    with serve_tools(is_old=True, authorization="Bearer abc") as server:
        server.offer("add", add, NUMBERS)
        await called(server.url, "add", {"a": 1, "b": 2}, authorization="Bearer abc")
        assert {headers["authorization"] for _, headers in server.requests} == {"Bearer abc"}


async def test_without_it_a_server_says_so():
    with serve_tools(authorization="Bearer abc") as server:
        assert "HTTP 401" in await refused(listed(server.url), errors.ToolUnreachable)


def test_it_is_in_no_log():
    assert "abc" not in repr(connection_to("https://tools.example.org/", authorization="Bearer abc"))


@pytest.mark.parametrize("kind", ["html", "broken_json", "accepted", "down", "redirect", "compressed"])
async def test_nonsense_is_unreachable(one_server, kind):
    await refused(listed(one_server.nonsense_url(kind)), errors.ToolUnreachable)


@pytest.mark.parametrize("kind", ["silent", "other_json"])
async def test_silence_ends_in_time(one_server, kind):
    await refused(listed(one_server.nonsense_url(kind), seconds=1), errors.ToolTimedOut)


@pytest.mark.parametrize("kind", ["endless", "endless_event"])
async def test_an_answer_without_an_end_is_cut_off(one_server, kind):
    await refused(listed(one_server.nonsense_url(kind)), errors.ToolResultTooLarge)


async def test_an_answer_of_very_many_values_is_not_read(one_server):
    await refused(listed(one_server.nonsense_url("crumbs")), errors.ToolResultTooLarge)


async def test_a_server_is_not_asked_again_and_again(one_server, monkeypatch):
    monkeypatch.setattr(egress_streams, "MOST_REQUESTS", 20)
    await refused(listed(one_server.nonsense_url("come_again")), errors.ToolResultTooLarge)
    assert len(one_server.requests) <= 20


async def test_listings_without_an_end_are_not_followed_for_ever(one_server, monkeypatch):
    monkeypatch.setattr(mcp_client, "MOST_PAGES", 3)
    one_server.repeats_pages = True
    one_server.offer("add", add, NUMBERS)
    assert len(await listed(one_server.url)) == 3


async def test_a_redirect_is_not_followed_even_to_the_same_server(one_server):
    await refused(listed(one_server.nonsense_url("redirect")), errors.ToolUnreachable)
    assert all(path != "/mcp" for path in one_server.paths)


@pytest.mark.parametrize("url", [*WRITTEN, *(f"http://{address}/mcp" for address in (*INSIDE, *NEVER))])
async def test_an_address_that_leads_inside_is_never_connected_to(url):
    await refused(listed(url, named_hosts=()), errors.ToolUnreachable)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        *((inside, "inside a private network") for inside in ("127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1")),
        *((never, "never connects to the address of its host") for never in ("169.254.169.254", "0.0.0.0")),
    ],
)
async def test_a_name_that_leads_inside_is_refused_at_the_connection(canary, monkeypatch, address, reason):
    def rebinding(destination, **options):
        return StreamingEgressTransport(destination, resolver=Rebinding(address), **options)

    monkeypatch.setattr(mcp_client, "StreamingEgressTransport", rebinding)
    detail = await refused(
        listed(f"http://rebinding.example.org:{canary.port}/mcp", named_hosts=()), errors.ToolUnreachable
    )
    assert reason in detail


async def test_a_proxy_of_the_environment_is_not_asked(canary, one_server, monkeypatch):
    one_server.offer("add", add, NUMBERS)
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{canary.port}")
    assert await listed(one_server.url)


async def test_nothing_stays_open(one_server, monkeypatch):
    opened = []

    def noted(*args, **options):
        opened.append(StreamingEgressTransport(*args, **options))
        return opened[-1]

    monkeypatch.setattr(mcp_client, "StreamingEgressTransport", noted)
    one_server.offer("add", add, NUMBERS)
    await called(one_server.url, "add", {"a": 1, "b": 2})
    assert [transport._session.closed for transport in opened] == [True]
    assert asyncio.all_tasks() == {asyncio.current_task()}


RESULTS = [
    ([TextContent(text="a"), TextContent(text="b")], None, "a\nb"),
    ([], {"sum": 3, "of": ["é"]}, '{"sum": 3, "of": ["é"]}'),
    ([TextContent(text="three")], {"sum": 3}, "three"),
    ([ImageContent(data="eA==", mime_type="image/png")], None, "(an image, image/png, which is not shown)"),
    ([AudioContent(data="eA==", mime_type="audio/wav")], None, "(a sound, audio/wav, which is not played)"),
    (
        [ResourceLink(name="notes", uri="file:///etc/passwd")],
        None,
        "(a link to notes, file:///etc/passwd, which was not opened)",
    ),
    ([EmbeddedResource(resource=TextResourceContents(uri="a://b", text="Dear"))], None, "Dear"),
    (
        [EmbeddedResource(resource=BlobResourceContents(uri="a://b", blob="eA=="))],
        None,
        "(a file, a://b, of no known kind, which was not opened)",
    ),
    ([], None, ""),
]


@pytest.mark.parametrize(("content", "structured", "text"), RESULTS)
async def test_a_result_is_text_and_nothing_is_fetched(one_server, content, structured, text):
    async def answer(context, arguments):
        return CallToolResult(content=content, structured_content=structured)

    one_server.offer("answer", answer)
    assert await called(one_server.url, "answer") == text
