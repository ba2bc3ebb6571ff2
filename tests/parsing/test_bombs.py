"""Hostile documents: each ends with an answer, in bounded time and memory, and reaches nothing outside."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from conversations.core.errors import DocumentError
from conversations.parsing import ParsingLimits
from tests.parsing.bombs import BOMBS, external_entity, external_template, names_that_lead_out
from tests.parsing.parsed_documents import parse_all, passages_of

LIMITS = ParsingLimits(seconds=300, memory_megabytes=1024)


@pytest.mark.parametrize("bomb", BOMBS, ids=str)
async def test_it_ends_with_an_answer(bomb):
    answer = None
    try:
        await parse_all(bomb.make(), bomb.name, limits=LIMITS)
    except DocumentError as error:
        answer = type(error)
    assert answer in bomb.answers


@asynccontextmanager
async def canary():
    """Yield the address of a server, and the list of those who came to it."""
    visits: list[object] = []

    async def visited(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visits.append(await reader.read(100))
        writer.close()

    server = await asyncio.start_server(visited, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/canary", visits


@pytest.mark.parametrize(
    "make",
    [
        external_entity,
        external_template,
        lambda url: f"<html><base href='{url}'><img src='{url}'><iframe src='{url}'></iframe><p>Hello".encode(),
        lambda url: f"<!DOCTYPE html SYSTEM '{url}'><html><link rel=stylesheet href='{url}'><p>Hello".encode(),
        lambda url: f"# Hello\n\n![picture]({url})".encode(),
    ],
)
async def test_no_address_in_a_document_is_visited(make):
    async with canary() as (url, visits):
        await parse_all(make(url), "letter.md")
        assert not visits


async def test_a_file_that_an_entity_names_is_not_read():
    secret = Path("/etc/hostname").read_text().strip()
    passages = await passages_of(external_entity("file:///etc/hostname"))
    assert [passage.text for passage in passages if secret and secret in passage.text] == []


async def test_names_in_an_archive_lead_nowhere():
    await parse_all(names_that_lead_out())
    assert not Path("/tmp/windowseat-out").exists()
