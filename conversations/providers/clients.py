"""The client of the provider that the settings name: one for each event loop, because its connections belong to it."""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

from django.conf import settings

from .completions import CompletionClient
from .demo import DEMO_BASE_URL, demo_http_client
from .language_models import demo_is_used
from .waiting import Timeouts

_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, CompletionClient] = WeakKeyDictionary()


def completion_client() -> CompletionClient:
    """Return the running event loop's client, made when it is first asked for."""
    loop = asyncio.get_running_loop()
    if loop not in _clients:
        _clients[loop] = _demo_client() if demo_is_used() else _provider_client()
    return _clients[loop]


async def close_completion_client() -> None:
    """Close the running event loop's client; the next one asked for is a new one, by the settings of then."""
    if client := _clients.pop(asyncio.get_running_loop(), None):
        await client.aclose()


def _provider_client() -> CompletionClient:
    return CompletionClient(settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY, timeouts=_timeouts())


def _demo_client() -> CompletionClient:
    http_client = demo_http_client(tokens_per_second=settings.DEMO_TOKENS_PER_SECOND)
    return CompletionClient(DEMO_BASE_URL, None, http_client=http_client, timeouts=_timeouts())


def _timeouts() -> Timeouts:
    waiting_seconds = settings.OPENAI_TIMEOUT_SECONDS
    return Timeouts(
        first_byte_seconds=waiting_seconds,
        idle_seconds=waiting_seconds,
        total_seconds=settings.REPLY_TIMEOUT_SECONDS,
    )
