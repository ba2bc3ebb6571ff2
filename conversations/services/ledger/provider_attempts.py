"""One attempt at a provider: its row of the ledger is opened before and settled after, whatever happens in between.

Shared by completions and embeddings, with the rule for which failure is worth another attempt, and after what pause.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import random
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from django.db import IntegrityError
from django.utils import timezone

from conversations.core.errors import (
    CompletionError,
    MalformedStream,
    ProviderUnavailable,
    ProviderUnavailableUntil,
    RateLimited,
    RateLimitedUntil,
    ReplyInterrupted,
)
from conversations.live.database_retries import retry_while_database_down
from conversations.models import Completion

from .ledger import Outcome, settle_completion

logger = logging.getLogger(__name__)
R = TypeVar("R")
MOST_ATTEMPTS = 3
LONGEST_WAIT_SECONDS = 20.0
LONGEST_TOLD_SECONDS = 30 * 86_400.0  # of what a provider says; a date beyond it is no help, and may not exist
SHORTEST_BATCH_PAUSE_SECONDS = 10.0
LONGEST_BATCH_PAUSE_SECONDS = 900.0
MOST_DOUBLINGS = 10


class RowOpening:
    """The opening of one row of the ledger: it is written once, however often the database has to be asked."""

    def __init__(self) -> None:
        self._key = uuid.uuid4()
        self._has_been_tried = False

    def open(self, open_completion: Callable[[uuid.UUID], Completion]) -> Completion:
        """Open the row by its key, unless a try before this one has: its answer may have been lost."""
        was_tried, self._has_been_tried = self._has_been_tried, True
        if was_tried and (opened := _opened_before(self._key)):
            return opened
        try:
            return open_completion(self._key)
        except IntegrityError:  # the try before was still at it
            if was_tried and (opened := _opened_before(self._key)):
                return opened
            raise


async def open_row(open_completion: Callable[[uuid.UUID], Completion]) -> Completion:
    """Write the row of a request that is about to leave; cancelled meanwhile, settle it as not billed.

    *open_completion* gets the row's key.
    """
    return await open_or_settle(partial(RowOpening().open, open_completion), find_row=lambda opened: opened)


async def open_or_settle(open_in_thread: Callable[[], R], *, find_row: Callable[[R], Completion | None]) -> R:
    """Return what *open_in_thread* does; cancelled meanwhile, settle the row that *find_row* finds there, unbilled."""
    task = asyncio.ensure_future(retry_while_database_down(open_in_thread))
    try:
        return await finish_before_cancelling(task)
    except asyncio.CancelledError as cancelled:
        outcome = Outcome(not_billed=True, finish_reason="stopped", error_code="".join(cancelled.args))
        if task.exception() is None and (row := find_row(task.result())):
            await finish_before_cancelling(settle_row(row, outcome))
        raise


def _opened_before(key: uuid.UUID) -> Completion | None:
    """Return the row that was opened with *key*. Raises `ReplyInterrupted` if it was taken for abandoned meanwhile."""
    opened = Completion.objects.filter(opening_key=key).first()
    if opened and opened.ended_at:
        raise ReplyInterrupted
    return opened


@contextmanager
def known_errors(malformed: type[CompletionError] = MalformedStream) -> Iterator[None]:
    """Raise *malformed* in place of any error that is no `CompletionError`: its row of the ledger is settled too.

    A provider can send what none of our code has thought of. The traceback is logged here, and not again.
    """
    try:
        yield
    except CompletionError:
        raise
    except Exception as error:
        logger.exception("a request to the provider failed in a way that is not known")
        raise malformed(detail=f"{type(error).__name__}, see the traceback") from error


async def settle_row(completion: Completion, outcome: Outcome) -> None:
    """Settle the row as soon as the database answers: the request has been made."""
    await retry_while_database_down(partial(settle_completion, completion, outcome))


async def finish_before_cancelling(work: Awaitable[R]) -> R:
    """Return what *work* returns. A cancellation meanwhile waits for its end, good or bad, and then goes on."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
    finally:
        del task  # it has the error that it ended with, which has this frame: what it all holds would stay in memory


def retry_pause_seconds(error: CompletionError, attempt: int, *, most_attempts: int = MOST_ATTEMPTS) -> float | None:
    """Return how long to wait before the next attempt; None if there should be none.

    The provider says how long. If it does not, the pause doubles with each attempt, with jitter.
    """
    if not error.retryable or attempt >= most_attempts:
        return None
    pause_seconds = error.retry_after_seconds
    if pause_seconds is None:
        pause_seconds = float(2 ** (attempt - 1)) * random.uniform(0.5, 1.0)  # noqa: S311  # not a secret
    return pause_seconds if pause_seconds <= LONGEST_WAIT_SECONDS else None


def raise_final_error(error: CompletionError) -> None:
    """Raise an error that tells the time in place of *error*, where the provider names one too far off to wait for."""
    seconds = error.retry_after_seconds
    until = RateLimitedUntil if isinstance(error, RateLimited) else ProviderUnavailableUntil
    is_told = isinstance(error, RateLimited | ProviderUnavailable) and not error.may_be_billed
    if is_told and seconds is not None and seconds > LONGEST_WAIT_SECONDS:
        again_at = timezone.now() + dt.timedelta(seconds=min(seconds, LONGEST_TOLD_SECONDS))
        raise until(again_at=again_at.isoformat(), detail=error.detail, request_id=error.request_id) from error


def batch_pause_seconds(attempt: int) -> float:
    """Return the pause before a batch of embeddings is tried again: twice as long each time, with jitter."""
    seconds = min(SHORTEST_BATCH_PAUSE_SECONDS * float(2 ** (attempt - 1)), LONGEST_BATCH_PAUSE_SECONDS)
    return seconds * random.uniform(0.5, 1.0)  # noqa: S311  # not a secret
