"""Work in the background that is repeated: as long as there is some, and else whenever more is announced."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

from .waiting_work import WaitingWork, look_for_work

logger = logging.getLogger(__name__)

POLL_SECONDS = 2.0  # without a word from `fanout` what waits is found this late
BREATH_SECONDS = 0.02  # between two batches, for other work in the process


async def repeat_work(
    work: Callable[[], Awaitable[bool]], more: asyncio.Event, may_wait: Callable[[WaitingWork], bool] | None = None
) -> None:
    """Do *work* as long as there is some, then wait for *more*. A database that is away ends nothing.

    Now and then it is looked for without a word; *may_wait* tells by the statement that is shared with other duties
    whether there may be some.
    """
    is_told = True
    while True:
        more.clear()
        try:
            found = (is_told or may_wait is None or may_wait(await look_for_work())) and await work()
        except Exception:
            logger.exception("it could not %s; it will be tried again", _name_of_work())
            found = False
        if found:
            is_told = True  # there may be more
            await asyncio.sleep(BREATH_SECONDS)
            continue
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(more.wait(), POLL_SECONDS)
        is_told = more.is_set()


def _name_of_work() -> str:
    """Return what the running duty does, by the name of its task, such as "import conversations"."""
    task = asyncio.current_task()
    return task.get_name() if task else "do its work"
