"""The summary writer, beside the run worker: writes the summaries that are due, a few at once, behind all replies."""

from __future__ import annotations

import asyncio
import os
import socket
import uuid

from conversations.providers.clients.client_pool import completion_client
from conversations.services.summaries.write_next_summary import write_next_summary

from .repeated_work import repeat_work

AT_ONCE = 2  # so that one slow request does not hold up all others
LAST_WORDS_SECONDS = 5.0


class SummaryWriter:
    """`start` and `drain` belong to one event loop."""

    def __init__(self) -> None:
        self._duties: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        name = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        for number in range(AT_ONCE):
            duty = repeat_work(_WriteNext(f"{name}.{number}"), asyncio.Event())
            self._duties.append(asyncio.create_task(duty, name=f"write summaries {number}"))

    async def drain(self) -> None:
        """Stop at once: what is being written is due again for another process."""
        for duty in self._duties:
            duty.cancel()
        if self._duties:
            await asyncio.wait(self._duties, timeout=LAST_WORDS_SECONDS)


class _WriteNext:
    """Writes the next summary in the name of one *worker*."""

    def __init__(self, worker: str) -> None:
        self._worker = worker

    async def __call__(self) -> bool:
        return await write_next_summary(self._worker, completion_client())
