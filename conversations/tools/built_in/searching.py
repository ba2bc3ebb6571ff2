"""Searches that models ask for: a few at once, so that what people read and write keeps its connections."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from conversations.core.errors import LookUpTooCostly, ToolBusy, ToolTimedOut

AT_ONCE = 3
LONGEST_TURN_SECONDS = 10.0
_turns = BoundedSemaphore(AT_ONCE)


@contextmanager
def searching() -> Iterator[None]:
    """Wait for a turn. Raises `ToolBusy` if none comes, `ToolTimedOut` if there is too much to look through."""
    if not _turns.acquire(timeout=LONGEST_TURN_SECONDS):
        raise ToolBusy
    try:
        yield
    except LookUpTooCostly as error:
        raise ToolTimedOut(detail="There is too much to look through: search for fewer and rarer words.") from error
    finally:
        _turns.release()
