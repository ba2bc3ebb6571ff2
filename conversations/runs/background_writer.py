"""Background writers, beside the run worker: write the summaries and titles that are due, behind all replies."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from operator import attrgetter
from typing import Literal

from conversations.providers.clients.client_pool import completion_client
from conversations.providers.clients.completions import CompletionClient
from conversations.services.summaries.write_next_summary import write_next_summary
from conversations.services.titles.write_title import write_next_title

from .process_name import name_process
from .repeated_work import repeat_work

AT_ONCE = 2  # so that one slow request does not hold up all others
LAST_WORDS_SECONDS = 5.0


class BackgroundWriter:
    """Calls *write_next* with a worker's name as long as there is something to write. `start` and `drain` belong to one
    event loop.
    """

    def __init__(
        self,
        what: Literal["summaries", "titles"],
        write_next: Callable[[str, CompletionClient], Awaitable[bool]],
    ) -> None:
        self._what = what
        self._write_next = write_next
        self._duties: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        name = name_process()
        for number in range(AT_ONCE):
            duty = repeat_work(self._writing(f"{name}.{number}"), asyncio.Event(), attrgetter(self._what))
            self._duties.append(asyncio.create_task(duty, name=f"write {self._what} {number}"))

    async def drain(self) -> None:
        """Stop at once: what is being written is due again for another process."""
        for duty in self._duties:
            duty.cancel()
        if self._duties:
            await asyncio.wait(self._duties, timeout=LAST_WORDS_SECONDS)

    def _writing(self, worker: str) -> Callable[[], Awaitable[bool]]:
        async def write() -> bool:
            return await self._write_next(worker, completion_client())

        return write


def summary_writer() -> BackgroundWriter:
    return BackgroundWriter("summaries", write_next_summary)


def title_writer() -> BackgroundWriter:
    return BackgroundWriter("titles", write_next_title)
