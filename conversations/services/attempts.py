"""What all requests to a provider share: none leaves without its row, none is left open, and some are tried again."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from django.db import InterfaceError, OperationalError

from conversations.core.errors import CompletionError
from conversations.models import Completion
from conversations.threads import in_worker_thread

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
    """Settle the row, and go on trying while the database is away: the request has been made."""
    while True:
        try:
            await in_worker_thread(settle_completion)(completion, outcome)
            return
        except (OperationalError, InterfaceError):
            logger.warning("completion %d could not be settled yet", completion.pk, exc_info=True)
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
