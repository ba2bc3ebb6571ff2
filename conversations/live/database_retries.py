"""Ask the database again while it is away: a failover is an ordinary fault, and a reply is not lost by one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from django.db import Error as DatabaseError

from chatsite.postgres.faults import is_passing_fault

from .database_threads import in_worker_thread

R = TypeVar("R")
InThread = Callable[[Callable[[], R]], Callable[[], Awaitable[R]]]
DATABASE_AWAY_SECONDS = 0.5  # before it is asked again
logger = logging.getLogger(__name__)


async def retry_while_database_down(work: Callable[[], R], *, in_thread: InThread[R] = in_worker_thread) -> R:
    """Return what *work* returns, trying again while the database is away, read-only or full.

    *work* may be done twice: an answer that was lost does not say whether anything was written.
    """
    while True:
        try:
            return await in_thread(work)()
        except DatabaseError as error:
            if not is_passing_fault(error):
                raise
            logger.warning("the database did not answer; it will be asked again", exc_info=True)
            await asyncio.sleep(DATABASE_AWAY_SECONDS)
