"""Which of several processes runs which tests: kinds of tests that wait run beside those that compute.

The faults wait for two thirds of their time: for a lease to end, for a server that stands still. Tests in a browser
wait for a third of theirs. With all processes at the same kind at once, much of the processors is left unused. So each
process begins with a kind of its own, and goes on with another one when that is done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from xdist.scheduler import LoadFileScheduling

FAULTS, BROWSER, OTHERS = "tests/faults/", "tests/browser/", "tests/"
KINDS = (FAULTS, BROWSER, OTHERS)  # what takes longest comes first


class KindByKind(LoadFileScheduling):  # type: ignore[misc]  # it has no types
    """pytest-xdist's `loadfile`, with a kind of tests for each process. All faults are one piece, in place of files."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._kinds: dict[Any, str] = {}  # of each process, the kind that it is at

    def _split_scope(self, nodeid: str) -> str:
        return piece_of_work(nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        others = [kind for process, kind in self._kinds.items() if process is not node]
        piece = choose_piece(self.workqueue, self._kinds.get(node), others)
        self._kinds[node] = kind_of(piece)
        self.workqueue.move_to_end(piece, last=False)
        super()._assign_work_unit(node)


def piece_of_work(node_id: str) -> str:
    """Return what the test is a part of that one process does: its file, or all faults."""
    return FAULTS if node_id.startswith(FAULTS) else node_id.partition("::")[0]


def kind_of(piece: str) -> str:
    return next((kind for kind in KINDS if piece.startswith(kind)), OTHERS)


def choose_piece(left: Iterable[str], kind: str | None, others: Iterable[str]) -> str:
    """Return which of the pieces that are *left* a process does next that is at *kind*, as *others* are at theirs.

    Where its kind is done, it goes on with the one that fewest processes are at.
    """
    first = {kind_of(piece): piece for piece in reversed(list(left))}
    if kind in first:
        return first[kind]
    processes = Counter(others)
    return first[min(first, key=lambda kind: (processes[kind], KINDS.index(kind)))]
