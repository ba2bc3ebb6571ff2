"""A thread that has room on its stack asks the system for none, however deep its calls are."""

from __future__ import annotations

import resource
import sys
import threading

import pytest

from conversations.live.stack_room import with_stack_room
from conversations.live.thread_crew import ThreadCrew

CALLS, DEEPEST = 500, 150
pytestmark = [
    pytest.mark.skipif(sys.implementation.name != "cpython", reason="frames of CPython"),
    pytest.mark.skipif(not hasattr(resource, "RUSAGE_THREAD"), reason="needs Linux"),
]


def called(first=1, second=2):
    third = first + second
    return third + first


def most_faults():
    """Return how many pages of memory were fetched by calls at one depth, at most."""
    return max(faults_at(depth) for depth in range(DEEPEST))


def faults_at(depth):
    if depth:
        return faults_at(depth - 1)
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for _ in range(CALLS):
        called()
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before


def in_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_without_room_each_call_at_some_depth_fetches_memory():
    assert in_thread(most_faults) >= CALLS


def test_with_room_none_does():
    assert in_thread(with_stack_room(lambda: most_faults())) < CALLS / 10


async def test_threads_of_a_crew_have_room():
    crew = ThreadCrew("deep", most_threads=1)
    assert await crew.call(most_faults) < CALLS / 10
    crew.end()
