"""The send buffer of a socket: the frames that wait to be sent to one page, and the task that sends them.

An idle page has neither task nor queue, and the last frame, which may be a large snapshot, is not kept for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

logger = logging.getLogger(__name__)

# The extension of ASGI by which our server sends text at once, without a task: a round of the event loop sooner.
SEND_NOW = "windowseat.send_now"
MOST_UNSENT_FRAMES = 1000
MOST_UNSENT_CHARACTERS = 4_000_000


class SendBuffer:
    """Payloads for one page, sent one after another. A page that reads nothing must not fill the memory.

    Such a page *is_given_up*: all that waits is dropped and it is closed, if it still hears that; it asks for what it
    missed when it comes back. *is_closed* says that nothing is taken any more, as of a page that has gone. *send_now*,
    which a server may lack, sends at once and returns True, or False where *send* has to wait for the page.
    """

    def __init__(
        self,
        *,
        send: Callable[[str], Awaitable[None]],
        close: Callable[[], Awaitable[None]],
        send_now: Callable[[str], bool] | None = None,
    ) -> None:
        self.is_given_up = self.is_closed = False
        self._send = send
        self._send_now = send_now
        self._close = close
        self._payloads: list[str] = []
        self._characters = 0
        self._is_started = False
        self._sending: asyncio.Task[None] | None = None  # while something waits: most pages are idle
        self._closing: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._is_started = True
        self._send_what_waits()

    def stop(self) -> None:
        self._drop()
        if self._sending:
            self._sending.cancel()

    def put(self, payload: str) -> None:
        """Queue *payload*; once the buffer is closed it is dropped. Raises what *send_now* does."""
        if self.is_closed:
            return
        if self._send_now and self._may_send_now and self._send_now(payload):
            return  # without a task, and in order: nothing waits
        self._characters += len(payload)
        self._payloads.append(payload)
        waiting = len(self._payloads)
        # One payload alone may be of any size: a page that was closed over it would ask for it again, without end.
        if (waiting > 1 and self._characters > MOST_UNSENT_CHARACTERS) or waiting > MOST_UNSENT_FRAMES:
            self.give_up()
        else:
            self._send_what_waits()

    def give_up(self) -> None:
        """Drop what waits and close the page, which asks for what it missed when it comes back."""
        if not self.is_given_up:
            self.is_given_up = True
            self.stop()
            self._closing = asyncio.create_task(self._close_page())

    @property
    def _may_send_now(self) -> bool:
        return self._is_started and self._sending is None and not self._payloads

    def _drop(self) -> None:
        """Take nothing any more, and forget what waits: a closed socket stays in memory until cycles are freed."""
        self.is_closed = True
        self._payloads = []

    def _send_what_waits(self) -> None:
        if self._payloads and self._is_started and self._sending is None:
            self._sending = asyncio.create_task(self._send_all())

    async def _send_all(self) -> None:
        try:
            while self._payloads:
                payload = self._payloads.pop(0)
                self._characters -= len(payload)
                await self._send_or_lose(payload)
        except OSError:  # as uvicorn says that the page has gone
            self._drop()
        finally:
            self._sending = None

    async def _send_or_lose(self, payload: str) -> None:
        """Send *payload*. What can't be sent at all is lost alone: a page that came back would ask for it again."""
        try:
            await self._send(payload)
        except OSError:
            raise
        except Exception:
            logger.exception("a frame could not be sent to a page")

    async def _close_page(self) -> None:
        with contextlib.suppress(Exception):
            await self._close()
