"""The files that one ordinary message passes, from the socket to `reply.done`: how much there is to read of that way.

The first message of a conversation, without documents and tools, to the demo model and to a configured provider (a fake
one), each in a process of its own. Counted are the product's files and functions that are entered at least once, in all
threads; imports, class bodies and what happens by the clock alone (the worker's saving, leases and admission; the check
of open sockets' sessions) are not. The first message of a process also opens connections, fills caches and learns how
the model counts; the second, in another conversation, is counted apart.

    python -m tests.benchmarks.message_trip [--json FILE]
"""

from __future__ import annotations

import asyncio
import sys
import threading
import uuid
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from multiprocessing import get_context
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING
from unittest import mock

from tests.benchmarks._figures import Figures, run_benchmark, verdict
from tests.benchmarks._site import temporary_site
from tests.support.source import PROJECT
from tests.support.upstream import serve_upstream

if TYPE_CHECKING:
    from chatsite.accounts.models import User
    from tests.support.sockets import Page

PACKAGES = tuple(str(PROJECT / package) for package in ("chatsite", "conversations"))
IMPORTS = "<frozen importlib._bootstrap>"
FILES_AT_MOST = 60
LANGUAGE_MODELS = "ok context_window=128000 input_usd=0.15 output_usd=0.60"

Trip = dict[str, set[str]]  # functions by the file they are in


class Hook:
    """A profile hook that notes the code of each product function that is entered while it *records*."""

    def __init__(self) -> None:
        self.records = False
        self._seen: set[CodeType] = set()
        self._entered: set[CodeType] = set()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        if not self.records or event != "call" or frame.f_code in self._seen:
            return
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGES):
            self._seen.add(code)
        elif code.co_flags & CO_OPTIMIZED and not _is_importing(frame):
            self._seen.add(code)
            self._entered.add(code)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record what is entered from now on, and nothing from before."""
        self._seen.clear()
        self._entered.clear()
        self.records = True
        yield
        self.records = False

    def trip(self) -> Trip:
        functions: Trip = defaultdict(set)
        for code in self._entered:
            named = functions[str(Path(code.co_filename).relative_to(PROJECT))]
            if not code.co_name.startswith("<"):
                named.add(code.co_qualname)
        return dict(sorted(functions.items()))


def _is_importing(frame: FrameType | None) -> bool:
    while frame:
        if frame.f_code.co_filename == IMPORTS:
            return True
        frame = frame.f_back
    return False


@contextmanager
def profiled() -> Iterator[Hook]:
    """Yield a hook that is told of this thread and of all that begin from now on."""
    hook = Hook()
    threading.setprofile(hook)
    sys.setprofile(hook)
    try:
        yield hook
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def measure() -> Figures:
    """Measure to the demo model and to a provider, each in a process that has done nothing yet."""
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as processes:
        demo = processes.submit(measure_demo).result()
        return demo | {"provider": processes.submit(measure_provider).result()}


def measure_demo() -> Figures:
    return _measure(DEMO_TOKENS_PER_SECOND="0", OPENAI_BASE_URL="", OPENAI_API_KEY="", LANGUAGE_MODELS="")


def measure_provider() -> Figures:
    with serve_upstream() as upstream:
        return _measure(OPENAI_BASE_URL=upstream.base_url, OPENAI_API_KEY="sk-test", LANGUAGE_MODELS=LANGUAGE_MODELS)


def _measure(**environment: str) -> Figures:
    with (
        profiled() as hook,
        temporary_site(**environment),
        mock.patch("conversations.runs.worker._every", _never),
        mock.patch("conversations.live.session_watcher.SessionWatcher._check_forever", _never),
    ):
        first, second = asyncio.run(_trips(hook))
    return _figures(first) | {"second": _figures(second)}


def _figures(trip: Trip) -> Figures:
    return {
        "files": len(trip),
        "functions": sum(map(len, trip.values())),
        "trip": {file: sorted(functions) for file, functions in trip.items()},
    }


async def _never(*_arguments: object, **_named: object) -> None:
    """Do nothing, where something is done by the clock."""


async def _trips(hook: Hook) -> tuple[Trip, Trip]:
    """Send two messages and return the trip of each."""
    from conversations.runs.worker import Worker
    from tests.support.people import make_user
    from tests.support.sockets import Page
    from tests.support.waiting import in_thread

    user = await in_thread(make_user, "alice")
    worker = Worker()
    await worker.start()
    page = await Page.open(user)
    trips = await _trip(hook, user, page), await _trip(hook, user, page)
    await page.communicator.disconnect()
    await worker.drain()
    return trips


async def _trip(hook: Hook, user: User, page: Page) -> Trip:
    from tests.support.people import begin
    from tests.support.waiting import in_thread

    conversation = await in_thread(begin, user)
    message = {"conversation": conversation.public_id, "client_id": uuid.uuid4(), "content": "Hello"}
    with hook.recording():
        await page.send("message.post", **message)
        await page.receive("reply.done")
    return hook.trip()


def report(result: Figures) -> None:
    by_package = defaultdict(list)
    for file, functions in result["trip"].items():
        by_package[str(Path(file).parent)].append((Path(file).name, len(functions)))
    for package, files in by_package.items():
        print(f"{package}/  {len(files)} files")
        for name, functions in files:
            print(f"    {name:<32} {functions:>3} functions")
    for model, measured in (("the demo model", result), ("a provider", result["provider"])):
        for message, figures in (("first", measured), ("second", measured["second"])):
            print(f"The {message} message to {model}: {figures['functions']} functions in {figures['files']} files.")
            print("files:", verdict(figures["files"], at_most=FILES_AT_MOST))
    print("Only to a provider:", ", ".join(sorted(result["provider"]["trip"].keys() - result["trip"].keys())))


if __name__ == "__main__":
    run_benchmark(__doc__.splitlines()[0], measure, report)
