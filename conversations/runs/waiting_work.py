"""Waiting work: one statement that tells what kinds of background work there may be, for all duties that poll.

Each duty is woken by a message when there is something for it, and polls only in case that a message was lost. When
each polled by its own statements, an idle process asked the database eight times a second.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from django.db import connection

from conversations.live.database_threads import in_worker_thread

VALID_SECONDS = 1.0  # half of what the duties wait between two polls: those that poll together ask once
NEVER = float("-inf")

# Each may find more than can be claimed now, such as documents of a deleted conversation, but never less.
FIND = """
SELECT
  EXISTS (SELECT FROM conversations_run WHERE state = 'waiting'),
  EXISTS (SELECT FROM conversations_run WHERE state = 'running' AND lease_until < statement_timestamp())
    OR EXISTS (SELECT FROM conversations_run WHERE state = 'awaiting_approval')
    OR EXISTS (SELECT FROM conversations_completion WHERE ended_at IS NULL),
  EXISTS (SELECT FROM conversations_document WHERE state IN ('waiting', 'parsing')),
  EXISTS (SELECT FROM conversations_pathchange),
  EXISTS (SELECT FROM conversations_summarystate WHERE due_at <= statement_timestamp()),
  EXISTS (SELECT FROM conversations_titlestate WHERE due_at <= statement_timestamp()),
  EXISTS (SELECT FROM conversations_conversationimport WHERE state IN ('waiting', 'running')),
  EXISTS (
    SELECT FROM conversations_webhookdelivery
    WHERE due_at <= statement_timestamp() AND (lease_until IS NULL OR lease_until < statement_timestamp())
  )
"""


@dataclass(frozen=True, slots=True)
class WaitingWork:
    """Which kinds of work there may be. *abandoned* are replies and requests that their worker does not end."""

    runs: bool
    abandoned: bool
    documents: bool
    messages: bool
    summaries: bool
    titles: bool
    imports: bool
    webhooks: bool


def find_waiting_work() -> WaitingWork:
    with connection.cursor() as cursor:
        cursor.execute(FIND)
        return WaitingWork(*cursor.fetchone())


class _Lookout:
    """What was found last, and what is being found; of one event loop."""

    def __init__(self) -> None:
        self._found: WaitingWork | None = None
        self._found_at = NEVER
        self._finding: asyncio.Future[WaitingWork] | None = None

    async def look(self) -> WaitingWork:
        if self._found is not None and time.monotonic() - self._found_at < VALID_SECONDS:
            return self._found
        if self._finding is None or self._finding.done():
            self._finding = asyncio.ensure_future(in_worker_thread(find_waiting_work)())
        found = await asyncio.shield(self._finding)
        self._found, self._found_at = found, time.monotonic()
        return found


async def look_for_work() -> WaitingWork:
    """Return what waits, as it was at most `VALID_SECONDS` ago; duties that poll at the same time ask once."""
    return await _of_loop.setdefault(asyncio.get_running_loop(), _Lookout()).look()


_of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, _Lookout] = WeakKeyDictionary()
