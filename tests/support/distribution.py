"""Which of several processes runs which tests: a file's stay together, and so do all that mostly wait.

The faults wait for two thirds of their time: for a lease to end, for a server that stands still. With all processes at
them at once, little keeps the processors busy. So one process is at them, from the beginning on, beside the others.
"""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling

WAITING = "tests/faults/"


class WaitingTogether(LoadFileScheduling):  # type: ignore[misc]  # it has no types
    """pytest-xdist's `loadfile`, with what is in the folder WAITING in place of one file."""

    def _split_scope(self, nodeid: str) -> str:
        return piece_of_work(nodeid)


def piece_of_work(node_id: str) -> str:
    """Return what the test is a part of that one process does: its file, or all that waits."""
    return WAITING if node_id.startswith(WAITING) else node_id.partition("::")[0]
