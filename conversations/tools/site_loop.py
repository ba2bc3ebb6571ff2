"""Run a function of ours where the site's connections live: on its event loop, which it never holds up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from conversations.core.errors import ToolTimedOut

from .result_text import as_text


class SiteLoop:
    """Where built-in async functions run: they ask providers by the loop's own clients, and wait for all else."""

    async def run(self, work: Callable[[], Awaitable[Any]], *, timeout_seconds: float) -> str:
        """Return what *work* returns, as text. Raises `ToolTimedOut`, or what *work* raises."""
        try:
            async with asyncio.timeout(timeout_seconds):
                return as_text(await work())
        except TimeoutError as error:
            raise ToolTimedOut from error
