"""Talking with MCP servers from another process: its results here, and that it is no work for this one."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from conversations.core import errors
from conversations.core.tools.listed_tools import RefusedTool
from conversations.providers.mcp import client as mcp_client
from conversations.providers.mcp import session as mcp_session
from conversations.providers.mcp.process_protocol import LONGEST_LINE_BYTES, MOST_BYTES, McpConnection, write_line
from conversations.providers.mcp.session import open_session
from tests.support.mcp_server import NUMBERS, add, hang, said, serve_tools
from tests.support.patience import PATIENCE_SECONDS
from tests.support.waiting import wait_until


@pytest.fixture
def server():
    with serve_tools() as server:
        server.offer("add", add, NUMBERS)
        yield server


def connection_to(url, *, seconds=PATIENCE_SECONDS, **options):
    return McpConnection(url, timeout_seconds=seconds, **{"named_hosts": ["127.0.0.1"], **options})


async def listed(url, **options):
    async with open_session(connection_to(url, **options)) as session:
        return await session.tools(server="sums")


async def called(url, name, arguments=None, **options):
    async with open_session(connection_to(url, **options)) as session:
        return await session.call(name, arguments or {})


async def work_of(awaitable):
    """Return how long this thread, and no other, was at work until *awaitable* came to its end, in seconds."""
    began = time.thread_time()
    await asyncio.gather(awaitable, return_exceptions=True)
    return time.thread_time() - began


async def test_it_lists_and_calls_within_one_connection(server):
    server.offer("look", description="Looks\u202e.", read_only_hint=True)
    async with open_session(connection_to(server.url)) as session:
        listing = await session.tools(server="sums")
        assert await session.call("add", {"a": 17, "b": 23}) == "40"
    assert [(tool.name, tool.description, tool.read_only) for tool in listing.kept] == [
        ("add", "Does add.", False),
        ("look", "Looks.", True),
    ]


async def test_what_is_not_taken_comes_with_its_reason(server):
    server.offer("bomb", schema={"type": "object", "properties": []})
    assert (await listed(server.url)).refused == [RefusedTool("bomb", "not_a_schema")]


async def test_arguments_and_results_keep_every_character(server):
    async def echo(context, arguments):
        return said(arguments["text"])

    server.offer("echo", echo)
    text = 'é \U0001f600 \u2028 \x7f \\ \n\t" 的' * 1_000
    assert await called(server.url, "echo", {"text": text}) == text


async def test_an_error_comes_with_its_words(server):
    async def fail(context, arguments):
        return said("There is no such file: a.txt", is_error=True)

    server.offer("fail", fail)
    with pytest.raises(errors.ToolError) as raised:
        await called(server.url, "fail")
    assert (type(raised.value), raised.value.detail) == (errors.ToolError, "There is no such file: a.txt")


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("down", errors.ToolUnreachable),
        ("endless", errors.ToolResultTooLarge),
        ("notices", errors.ToolResultTooLarge),
        ("crumbs", errors.ToolResultTooLarge),
    ],
)
async def test_nonsense_is_an_error(server, kind, error):
    with pytest.raises(error):
        await listed(server.nonsense_url(kind))


async def test_a_call_that_takes_too_long_says_how_far_it_came(server):
    server.offer("hang", hang)
    with pytest.raises(errors.ToolTimedOut) as raised:
        await called(server.url, "hang", seconds=8)
    assert raised.value.detail == "It last said: 3 of 10 files read"


async def test_a_stopped_call_is_stopped_there_too(server):
    server.offer("hang", hang)
    calling = asyncio.create_task(called(server.url, "hang"))
    await wait_until(lambda: server.calls)
    calling.cancel()
    await asyncio.wait([calling])
    assert calling.cancelled()
    assert await asyncio.to_thread(server.ended.wait, PATIENCE_SECONDS)


async def end_of(*orders):
    """Send *orders* to a process and leave at once; return when it has ended."""
    reader, writer = await asyncio.open_unix_connection(sock=mcp_session._child.connect())
    writer.write(b"".join(map(write_line, orders)))
    writer.write_eof()
    async with asyncio.timeout(PATIENCE_SECONDS):
        await reader.read()
    writer.close()


async def test_a_call_that_is_stopped_before_it_is_begun_is_not_begun(server):
    await end_of(connection_to(server.url).to_json(), {"call": "add", "arguments": {"a": 1, "b": 2}})
    assert server.calls == []


async def test_a_process_that_no_one_waits_for_does_not_wait_for_the_server(server):
    await end_of(connection_to(server.nonsense_url("silent"), seconds=600).to_json(), {"list": "sums"})


async def test_a_session_of_an_old_server_ends_with_its_connection():
    with serve_tools(is_old=True) as server:
        server.offer("add", add, NUMBERS)
        await called(server.url, "add", {"a": 1, "b": 2})
        await wait_until(lambda: "DELETE" in [method for method, _ in server.requests])


async def test_of_what_is_judged_there_hardly_any_is_work_here(server):
    """Work, not time: a machine that is slow, or busy with other things, makes both larger."""
    there = server.nonsense_url("values")
    await listed(server.url)  # the process is there by then

    async def read_here():
        async with mcp_client.open_sdk_session(connection_to(there)) as session:
            await session.tools()

    assert await work_of(listed(there)) * 5 < await work_of(read_here())


async def test_no_more_comes_here_than_was_read_there(server):
    async def write(context, arguments):
        return said('"\n' * (MOST_BYTES // 5))

    server.offer("write", write)
    assert len(await called(server.url, "write")) == 1_000_000 < LONGEST_LINE_BYTES


def test_the_site_never_loads_the_sdk():
    program = (
        "import django, sys; django.setup(); import chatsite.urls, conversations.services.scenarios.mcp_servers;"
        "sys.exit(any(name in sys.modules for name in ('mcp', 'mcp_types')))"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "chatsite.settings"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


def test_what_takes_too_much_work_is_ended():
    program = (
        "from conversations.providers.mcp.child_process import limit_work; limit_work(cpu_seconds=1)\nwhile True: pass"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)


@pytest.mark.parametrize(
    ("said", "error"), [(b"{}\n", errors.ToolResultTooLarge), (b"", errors.ToolError)], ids=["later", "at once"]
)
async def test_a_process_that_ends_is_an_error_by_what_it_came_to(monkeypatch, said, error):
    def ended():
        ours, theirs = socket.socketpair()
        theirs.sendall(said)
        theirs.close()
        return ours

    monkeypatch.setattr(mcp_session._child, "connect", ended)
    with pytest.raises(errors.ToolError) as raised:
        await listed("https://tools.example.org/mcp")
    assert type(raised.value) is error


async def test_it_is_started_again_once_it_is_gone(server):
    await listed(server.url)
    mcp_session._child._process.kill()
    mcp_session._child._process.wait()
    assert await listed(server.url)


async def test_there_are_no_more_at_once_than_the_machine_bears(server, monkeypatch):
    monkeypatch.setattr(mcp_session, "_slots", mcp_session.BoundedSemaphore(1))
    async with open_session(connection_to(server.url)):
        with pytest.raises(errors.ToolBusy):
            await listed(server.url)
    assert await listed(server.url)


async def test_the_process_has_no_secrets(monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "abc")
    assert "abc" not in mcp_session._environment().values()
