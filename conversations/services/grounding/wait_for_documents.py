"""Wait for documents that are still being read before a question is looked up in them: a few seconds, and no longer.

That one has been read is heard by `fanout` where this process reads it; whether others have is asked once a second. In
between neither a thread nor a connection is held, and a reply that is stopped stops waiting at once.
"""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial

from conversations.grounding.search_scope import load_question
from conversations.live.database_retries import retry_while_database_down
from conversations.live.fanout import DOCUMENTS_READ, Subscriber, subscribe, unsubscribe

MOST_SECONDS = 5.0
LOOK_SECONDS = 1.0


async def wait_for_documents(reply_id: int, *, most_seconds: float | None = None) -> None:
    """Return once all documents in the scope of a reply have been read, or could not be, or the time is over."""
    clock = asyncio.get_running_loop().time
    stop_at = clock() + (MOST_SECONDS if most_seconds is None else most_seconds)
    heard, pending = asyncio.Event(), partial(_is_pending, reply_id)
    subscriber = Subscriber(lambda _: heard.set())
    subscribe(DOCUMENTS_READ, subscriber)
    try:
        while (left_seconds := stop_at - clock()) > 0 and await retry_while_database_down(pending):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(heard.wait(), min(left_seconds, LOOK_SECONDS))
            heard.clear()
    finally:
        unsubscribe(DOCUMENTS_READ, subscriber)


def _is_pending(reply_id: int) -> bool:
    question = load_question(reply_id)
    return bool(question and question.pending_documents)
