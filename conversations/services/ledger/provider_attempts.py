"""What all that goes out shares: nothing leaves without its row, none is left open, and some is tried again."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from django.db import InterfaceError, OperationalError

from conversations.core.errors import CompletionError
from conversations.live.database_threads import in_worker_thread
from conversations.models import Completion

from .ledger import Outcome, settle_completion

R = TypeVar("R")
MOST_ATTEMPTS = 3
LONGEST_WAIT_SECONDS = 20.0
DATABASE_AWAY_SECONDS = 0.5  # until it is asked again
logger = logging.getLogger(__name__)


async def opened(open_row: Callable[[], Completion]) -> Completion:
    """Write the row of a request that is about to leave; if it may not leave any more, settle it."""
    opening = asyncio.ensure_future(in_worker_thread(open_row)())
    try:
        return await see_through(opening)
    except asyncio.CancelledError as cancelled:
        outcome = Outcome(not_billed=True, finish_reason="stopped", error_code="".join(cancelled.args))
        if opening.exception() is None:
            await see_through(settled(opening.result(), outcome))
        raise


async def settled(completion: Completion, outcome: Outcome) -> None:
    """Settle the row, whenever that can be done: the request has been made."""
    await insist(partial(settle_completion, completion, outcome))


async def insist(work: Callable[[], R]) -> R:
    """Return what *work* returns, and go on trying while the database is away.

    It may be done twice: an answer that was lost does not say whether anything was written.
    """
    while True:
        try:
            return await in_worker_thread(work)()
        except (OperationalError, InterfaceError):
            logger.warning("the database did not answer; it will be asked again", exc_info=True)
            await asyncio.sleep(DATABASE_AWAY_SECONDS)


async def see_through(work: Awaitable[R]) -> R:
    """Return what *work* returns; told to stop meanwhile, wait for its end, good or bad, and stop then."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def seconds_until_next(error: CompletionError, attempt: int) -> float:
    """Return how long the provider asks us to wait; without a word of it, twice as long each time, with jitter."""
    if error.retry_after_seconds is not None:
        return error.retry_after_seconds
    return float(2 ** (attempt - 1)) * random.uniform(0.5, 1.0)  # noqa: S311  # not a secret
