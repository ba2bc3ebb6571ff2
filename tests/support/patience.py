"""How long tests wait for what has to come: long enough for a slow machine that is busy with other work.

Waiting for a condition that comes costs nothing, so there is one patience, the same everywhere. It is no goal: how long
something may take is measured, by tests/faults/goals.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE_SECONDS = 120.0
LOOK_AGAIN_SECONDS = 0.02


def wait_for(condition: Callable[[], T], what: str = "") -> T:
    """Return what *condition* says as soon as that is true."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (result := condition()):
        assert time.monotonic() < deadline, f"{what or condition} did not come true in {PATIENCE_SECONDS:g} s"
        time.sleep(LOOK_AGAIN_SECONDS)
    return result
