"""Functions that hang, raise and answer with anything: none of them is felt by anybody else."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import os
import subprocess
import sys
import threading
import time
from decimal import Decimal

import pytest
from asgiref.sync import sync_to_async
from django.db import connection

from conversations.core.errors import ArgumentsInvalid, ArgumentsNotJson, ToolBusy, ToolError, ToolTimedOut
from conversations.tools.function_runners import LONGEST_MESSAGE, MOST_ABANDONED
from tests.support.isolation import PROJECT
from tests.support.waiting import wait_until

from .calls import call, python_tool
from .functions import Booking, Colour, Point


@pytest.fixture
def gate():
    """What a hanging function waits for; in the end every one of them is let go."""
    gate = threading.Event()
    yield gate
    gate.set()


def hanging(gate: threading.Event, *, timeout_seconds: float = 0.05):
    def hang() -> str:
        gate.wait(60)
        return "late"

    return python_tool(hang, timeout_seconds=timeout_seconds)


async def test_a_function_is_called_with_what_its_types_say():
    def seats(booking: Booking, colour: Colour = Colour.RED) -> str:
        return f"{booking.seats} {colour.name}"

    assert await call(python_tool(seats), booking={"title": "a", "seats": 2}) == "2 RED"


async def test_an_async_function_is_awaited():
    async def later(n: int) -> int:
        await asyncio.sleep(0)
        return n + 1

    assert await call(python_tool(later), n=1) == "2"


async def test_each_call_has_a_thread_of_its_own():
    def where() -> str:
        return threading.current_thread().name

    assert threading.current_thread().name != await call(python_tool(where)) == "tool-where"


RESULTS = {
    "nothing": (None, "done"),
    "a text": ("as it is", "as it is"),
    "no text": ("", ""),
    "a number": (0.5, "0.5"),
    "yes": (True, "true"),
    "a dataclass": (Point(1.0), '{"x":1.0,"y":0.0}'),
    "a model": (Booking(title="a", seats=2), '{"title":"a","seats":2}'),
    "an enum": ([Colour.RED], '["red"]'),
    "moments": ({"at": dt.datetime(2026, 11, 21, tzinfo=dt.UTC)}, '{"at":"2026-11-21T00:00:00Z"}'),
    "money": (Decimal("0.10"), '"0.10"'),
    "bytes": (b"\xff", '"_w=="'),
    "no number": (float("nan"), "NaN"),
    "anything": ([range(2)], '["range(0, 2)"]'),
    "Chinese": (["发票"], '["发票"]'),
    "HTML": ("<script>alert(1)</script>", "<script>alert(1)</script>"),
}


@pytest.mark.parametrize(("value", "text"), RESULTS.values(), ids=RESULTS)
async def test_a_result_becomes_text(value, text):
    def answer() -> object:
        return value

    assert await call(python_tool(answer)) == text


async def test_ten_megabytes_are_a_result_like_any_other():
    def answer() -> list[str]:
        return ["x" * 1_000_000] * 10

    assert len(await call(python_tool(answer))) > 10_000_000


class Wordless(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def exit_all() -> None:
    sys.exit(3)


def raise_wordless() -> None:
    raise Wordless


def recurse(n: int = 0) -> int:
    return recurse(n + 1)


def interrupt() -> None:
    raise KeyboardInterrupt


def use_up_memory() -> None:
    raise MemoryError


def stop_iteration() -> None:
    next(iter(()))


def answer_in_circles() -> list:
    circle: list = []
    circle.append(circle)
    return circle


async def cancel_itself() -> None:
    raise asyncio.CancelledError


def divide() -> float:
    return 1 / 0


RAISERS = {
    divide: "ZeroDivisionError: division by zero",
    exit_all: "SystemExit: 3",
    interrupt: "KeyboardInterrupt",
    recurse: "RecursionError: maximum recursion depth exceeded",
    use_up_memory: "MemoryError",
    stop_iteration: "StopIteration",
    raise_wordless: "Wordless",
    cancel_itself: "CancelledError",
    answer_in_circles: "PydanticSerializationError: Error serializing to JSON: ValueError: Circular",
}


@pytest.mark.parametrize(("function", "told"), RAISERS.items(), ids=lambda value: getattr(value, "__name__", ""))
async def test_what_a_function_raises_is_told_and_logged_and_ends_its_call_alone(function, told, caplog):
    with pytest.raises(ToolError) as raised:
        await call(python_tool(function))
    assert raised.value.for_the_model.startswith(f"The tool failed. {told}")
    assert f"the tool {function.__name__} failed" in caplog.text
    assert "Traceback" in caplog.text


async def test_a_long_message_is_cut_and_a_tool_error_is_told_as_it_is(caplog):
    def shout() -> None:
        raise RuntimeError("no " * 10_000)

    def explain() -> None:
        raise ToolError(detail="There is no such city.")

    with pytest.raises(ToolError) as raised:
        await call(python_tool(shout))
    assert len(raised.value.detail) == LONGEST_MESSAGE
    caplog.clear()
    with pytest.raises(ToolError, match="failed") as raised:
        await call(python_tool(explain))
    assert raised.value.for_the_model == "The tool failed. There is no such city."
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize(("arguments", "error"), [("{", ArgumentsNotJson), ('{"n": "x"}', ArgumentsInvalid)])
async def test_arguments_that_do_not_fit_never_reach_the_function(arguments, error):
    called = []

    def count(n: int) -> None:
        called.append(n)

    tool = python_tool(count)
    with pytest.raises(error):
        tool.check(arguments)
    with pytest.raises(error):
        await tool.run(arguments, None)
    assert called == []


async def test_a_function_that_hangs_is_left_alone_when_its_time_is_over(gate):
    with pytest.raises(ToolTimedOut):
        await call(hanging(gate))


async def test_one_that_hangs_holds_up_no_one(gate):
    def quick() -> str:
        return "quick"

    hung = asyncio.create_task(call(hanging(gate, timeout_seconds=60)))
    assert await call(python_tool(quick)) == "quick"
    gate.set()
    assert await hung == "late"


async def test_an_async_function_that_blocks_holds_up_no_one(gate):
    async def block() -> None:
        gate.wait(60)

    with pytest.raises(ToolTimedOut):
        await call(python_tool(block, timeout_seconds=0.05))


async def test_an_async_function_is_stopped_where_it_waits(caplog):
    stopped = threading.Event()

    async def wait() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            stopped.set()

    with pytest.raises(ToolTimedOut):
        await call(python_tool(wait, timeout_seconds=0.05))
    assert await asyncio.to_thread(stopped.wait, 30)
    await wait_until(lambda: not any(thread.name == "tool-wait" for thread in threading.enumerate()))
    assert "failed" not in caplog.text


async def test_an_async_function_that_is_given_up_before_it_waits_is_stopped_too(gate):
    def begin():
        gate.wait(60)
        return asyncio.Event().wait()

    with pytest.raises(ToolTimedOut):
        await call(python_tool(begin, timeout_seconds=0.05))
    gate.set()
    await wait_until(lambda: not any(thread.name == "tool-begin" for thread in threading.enumerate()))


async def test_a_call_that_is_stopped_is_not_waited_for(gate):
    began = time.monotonic()
    running = asyncio.create_task(call(hanging(gate, timeout_seconds=60)))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert time.monotonic() - began < 30


async def test_too_many_hung_calls_make_a_tool_busy_until_they_end(gate):
    tool = hanging(gate)
    for _ in range(MOST_ABANDONED):
        with pytest.raises(ToolTimedOut):
            await call(tool)
    with pytest.raises(ToolBusy):
        await call(tool)
    gate.set()
    await wait_until(lambda: not any(thread.name == "tool-hang" for thread in threading.enumerate()))
    assert await call(tool) == "late"


HUNG_PROCESS = """
import asyncio, threading
import django
django.setup()
from conversations.core.errors import ToolTimedOut
from tests.tools.calls import call, python_tool

def hang() -> None:
    threading.Event().wait()

async def block() -> None:
    threading.Event().wait()

for function in (hang, block):
    try:
        asyncio.run(call(python_tool(function, timeout_seconds=0.05)))
    except ToolTimedOut:
        print("given up")
"""


def test_hung_calls_do_not_keep_a_process_from_ending():
    command = [sys.executable, "-c", HUNG_PROCESS]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "chatsite.settings"}
    ended = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout.split("\n")) == (0, ["given up", "given up", ""]), ended.stderr


async def test_the_sites_time_out_counts_for_a_tool_without_its_own(settings):
    settings.TOOL_CALL_SECONDS = 7
    assert python_tool(divide).timeout_seconds == 7
    assert python_tool(divide, timeout_seconds=3).timeout_seconds == 3


def ask_database() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        return cursor.fetchone()[0]


async def ask_database_later() -> int:
    return await sync_to_async(ask_database)()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("function", [ask_database, ask_database_later])
async def test_connections_to_the_database_go_back_with_the_call(function, settings):
    for _ in range(settings.DATABASE_POOL_SIZE + 4):
        assert await call(python_tool(function)) == "1"
