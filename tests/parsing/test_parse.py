"""One document, one child: its results, how it ends, and what a child that lies can do."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import psutil
import pytest

from conversations.core.errors import DocumentDamaged, DocumentEmpty, DocumentTooCostly, DocumentTooLong
from conversations.parsing import KindFound, ParsedPassage, ParsingLimits, Progress, parse, parse_document
from tests.parsing.files import make_docx, make_pdf, make_records, make_text
from tests.parsing.parsed_documents import ENCODING, LIMITS, kind_of, parse_all, passages_of, percents_of
from tests.support.waiting import wait_until

PASSAGE = {"heading": "A", "text": "word", "tokens": 1}
KIND = {"kind": "text"}
END = {"end": True}


@pytest.fixture
def child_that(monkeypatch):
    """Let a program of the test's own take the place of the child; it has read the order and the file."""

    def replace(program: str) -> None:
        beginning = "import json, os, sys, time\nsys.stdin.buffer.read()\n"
        beginning += "def say(said): print(said if isinstance(said, str) else json.dumps(said), flush=True)\n"
        monkeypatch.setattr(parse, "COMMAND", (sys.executable, "-c", beginning + program))

    return replace


async def test_the_kind_comes_first_then_passages():
    assert await parse_all(b"Hello", "a.txt") == [
        KindFound("text"),
        Progress(100),
        ParsedPassage(heading="", text="Hello", tokens=1),
    ]


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("pdf", lambda: make_pdf(pages=12)),
        ("docx", make_docx),
        ("records", lambda: make_records(30)),
        ("text", lambda: make_text(40)),
    ],
)
async def test_documents_as_people_have_them_become_passages(kind, make):
    content = make()
    passages = await passages_of(content)
    assert await kind_of(content) == kind
    assert len(passages) >= 5
    assert all(0 < passage.tokens <= 400 for passage in passages)


async def test_a_pdf_tells_how_far_it_is():
    percents = await percents_of(make_pdf(pages=20))
    assert percents == list(range(5, 101, 5))


async def test_records_are_one_passage_each():
    passages = await passages_of(make_records(50))
    assert [passage.heading for passage in passages] == [f"Talk {number}" for number in range(1, 51)]


async def test_lone_surrogates_and_nul_do_not_come_through():
    [passage] = await passages_of(rb'[{"title": "a\u0000b", "text": "x\ud800y"}]')
    assert (passage.heading, passage.text) == ("ab", "text: xy")


@pytest.mark.parametrize("content", [b"", b"  \n ", b"[]"])
async def test_a_document_without_text_is_empty(content):
    with pytest.raises(DocumentEmpty):
        await parse_all(content)


async def test_too_much_text_ends_it():
    with pytest.raises(DocumentTooLong):
        await parse_all(b'[{"a":1}' + b',{"a":1}' * 20_000 + b"]")


# The end of a child


@pytest.fixture
def next_child() -> Callable[[], Awaitable[psutil.Process]]:
    """Return what waits for the next child of this process; what other tests have left running is none."""
    others = set(psutil.Process().children())
    return lambda: wait_until(lambda: next(iter(set(psutil.Process().children()) - others), None))


async def test_closing_the_generator_ends_the_child(child_that, next_child):
    child_that(f"say({KIND})\ntime.sleep(600)")
    async with aclosing(parse_document(b"", name="a", encoding=ENCODING, limits=LIMITS)) as parsed:
        assert await anext(parsed) == KindFound("text")
        child = await next_child()
    assert not child.is_running()


async def test_cancelling_the_reader_ends_the_child(child_that, next_child):
    child_that("time.sleep(600)")
    reading = asyncio.create_task(parse_all(b""))
    child = await next_child()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert not child.is_running()


async def test_what_a_child_has_started_ends_with_it(child_that):
    child_that(
        f"pid = os.fork()\nif pid: say({KIND}), say({{'heading': str(pid), 'text': 'x', 'tokens': 1}})\ntime.sleep(600)"
    )
    async with aclosing(parse_document(b"", name="a", encoding=ENCODING, limits=LIMITS)) as parsed:
        pieces = [await anext(parsed), await anext(parsed)]
    grandchild = int(pieces[1].heading)
    await wait_until(lambda: not psutil.pid_exists(grandchild) or psutil.Process(grandchild).status() == "zombie")


async def test_a_child_that_is_silent_too_long_is_too_costly(child_that):
    child_that("time.sleep(600)")
    with pytest.raises(DocumentTooCostly):
        await parse_all(b"", limits=ParsingLimits(seconds=1, memory_megabytes=512))


async def test_a_child_that_others_keep_from_the_processor_is_waited_for(child_that, monkeypatch):
    # Asleep for longer than the second of processor time that it may take: however much longer, it is waited for.
    child_that(f"time.sleep(1.1)\nsay({KIND})\nsay({PASSAGE})\nsay({END})")
    monkeypatch.setattr(parse, "WAIT_FACTOR", 300)
    assert len(await parse_all(b"", limits=ParsingLimits(seconds=1, memory_megabytes=512))) == 2


async def test_the_time_that_the_reader_takes_does_not_count():
    limits = ParsingLimits(seconds=20, memory_megabytes=512)
    async with aclosing(parse_document(make_text(50), name="a", encoding=ENCODING, limits=limits)) as parsed:
        assert len([await asyncio.sleep(0.01, piece) for piece in [p async for p in parsed]]) > 10


@pytest.mark.parametrize(
    ("program", "error"),
    [
        ("os.kill(os.getpid(), 9)", DocumentTooCostly),
        ("os.kill(os.getpid(), 6)", DocumentTooCostly),
        ("os.kill(os.getpid(), 24)", DocumentTooCostly),
        ("os.kill(os.getpid(), 11)", DocumentDamaged),
        ("sys.exit(3)", DocumentDamaged),
        ("", DocumentDamaged),
    ],
)
async def test_a_child_that_dies_has_said_why_by_how(child_that, program, error):
    child_that(program)
    with pytest.raises(error):
        await parse_all(b"")


async def test_a_child_that_takes_nothing_in_is_no_reason_to_wait(monkeypatch):
    monkeypatch.setattr(parse, "COMMAND", (sys.executable, "-c", 'print(\'{"error": "document_encrypted"}\')'))
    with pytest.raises(Exception, match="password"):
        await parse_all(b"a" * 5_000_000)


# Lies


@pytest.mark.parametrize(
    "said",
    [
        "no JSON",
        "[" * 5_000,
        "[1]",
        {},
        {"kind": "program"},
        {"kind": ["text"]},
        PASSAGE,
        {"error": "access_denied"},
        {"percent": 101},
        END,
    ],
)
async def test_what_is_no_answer_is_damage(child_that, said):
    child_that(f"say({said!r})\nsay({END})")
    with pytest.raises(DocumentDamaged):
        await parse_all(b"")


@pytest.mark.parametrize(
    "change",
    [
        {"text": ""},
        {"text": " \n"},
        {"text": "a\x00b"},
        {"text": "a\ud800b"},
        {"heading": "a\x00b"},
        {"heading": 7},
        {"heading": "a" * 501},
        {"text": "a" * 8_001},
        {"text": None},
        {"tokens": 0},
        {"tokens": -5},
        {"tokens": "1"},
        {"tokens": 1.5},
        {"tokens": True},
        {"tokens": 10**9},
    ],
)
async def test_a_passage_that_can_not_be_kept_is_damage(child_that, change):
    child_that(f"say({KIND})\nsay({PASSAGE | change!r})\nsay({END})")
    with pytest.raises(DocumentDamaged):
        await parse_all(b"")


async def test_a_line_without_an_end_is_not_kept(child_that):
    child_that("while True: sys.stdout.write('a' * 65536)")
    with pytest.raises(DocumentDamaged):
        await parse_all(b"")


@pytest.mark.parametrize("said", [PASSAGE, PASSAGE | {"text": "a" * 8_000}])
async def test_passages_without_an_end_are_too_long(child_that, said):
    child_that(f"say({KIND})\nline = json.dumps({said!r})\nwhile True: print(line)")
    with pytest.raises(DocumentTooLong):
        await parse_all(b"")


@pytest.mark.parametrize("said", [{"percent": 1}, {"skipped": {"pictures": 1, "pages": 0, "comments": 0}}])
async def test_what_is_said_once_is_damage_without_an_end(child_that, said):
    child_that(f"say({KIND})\nwhile True: print('{json.dumps(said)}')")
    with pytest.raises(DocumentDamaged):
        await parse_all(b"")


async def test_much_said_of_errors_is_not_kept(child_that, caplog):
    child_that(f"sys.stderr.write('e' * 10_000_000)\nsay({KIND})\nsay({PASSAGE})\nsay({END})")
    with caplog.at_level("INFO"):
        assert len(await parse_all(b"")) == 2
    assert len(caplog.text) < 5_000


# What a child knows


async def test_a_child_has_no_secrets_in_its_environment(child_that, monkeypatch):
    for name in ("SECRET_KEY", "DATABASE_URL", "OPENAI_API_KEY", "HOME"):
        monkeypatch.setenv(name, "canary")
    child_that(f"say({KIND})\nsay({PASSAGE} | {{'text': json.dumps(dict(os.environ))}})\nsay({END})")
    environment = json.loads((await passages_of(b""))[0].text)
    assert "canary" not in environment.values()
    assert set(environment) <= set(parse.ENVIRONMENT)


async def test_a_child_has_no_files_of_its_parent(child_that):
    reading, writing = os.pipe()
    os.set_inheritable(reading, True)
    child_that(f"say({KIND})\nsay({PASSAGE} | {{'text': ' '.join(os.listdir('/proc/self/fd'))}})\nsay({END})")
    try:
        open_files = (await passages_of(b""))[0].text.split()
    finally:
        os.close(reading)
        os.close(writing)
    assert len(open_files) == 4  # its three, and the folder that it lists


async def test_what_went_wrong_is_logged_without_a_word_of_the_document(caplog):
    with caplog.at_level("INFO"), pytest.raises(DocumentDamaged):
        await parse_all(b'{"canary": tru}', "canary.json")
    assert "document_damaged" in caplog.text
    assert "canary" not in caplog.text
