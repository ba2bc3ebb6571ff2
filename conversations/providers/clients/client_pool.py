"""The pool of provider clients: one per event loop, because connections belong to their loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

from django.conf import settings

from conversations.providers.catalog.embedding_models import embedding_api_key, embedding_base_url, embedding_model
from conversations.providers.catalog.language_models import demo_is_used
from conversations.providers.demo import DEMO_BASE_URL, demo_http_client
from conversations.providers.openai_api.provider_connection import Timeouts

from .completions import CompletionClient
from .embeddings import EmbeddingClient
from .local_embeddings import LocalEmbeddingClient
from .web_search import WebSearchClient


class Client(Protocol):
    """A client that can be closed."""

    async def aclose(self) -> None: ...


ClientType = TypeVar("ClientType", bound=Client)


class _PerLoop(Generic[ClientType]):
    """The running event loop's client, made by *make* when it is first asked for."""

    def __init__(self, make: Callable[[], ClientType]) -> None:
        self._make = make
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, ClientType] = WeakKeyDictionary()

    def get(self) -> ClientType:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = self._make()
        return self._clients[loop]

    async def close(self) -> None:
        if client := self._clients.pop(asyncio.get_running_loop(), None):
            await client.aclose()


def completion_client() -> CompletionClient:
    """Return the running event loop's client of the provider of replies."""
    return _completion_clients.get()


def embedding_client() -> EmbeddingClient | LocalEmbeddingClient:
    """Return the running event loop's client of the embeddings model. Raises `EgressRefused`."""
    return _embedding_clients.get()


def web_search_client() -> WebSearchClient:
    """Return the running event loop's client of the web search. Raises `EgressRefused`."""
    return _web_search_clients.get()


async def close_clients() -> None:
    """Close the running event loop's clients; the next calls make new ones, by the settings of that time."""
    await _completion_clients.close()
    await _embedding_clients.close()
    await _web_search_clients.close()


def _make_completion_client() -> CompletionClient:
    if demo_is_used():
        http_client = demo_http_client(tokens_per_second=settings.DEMO_TOKENS_PER_SECOND)
        return CompletionClient(DEMO_BASE_URL, None, http_client=http_client, timeouts=_timeouts())
    return CompletionClient(settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY, timeouts=_timeouts())


def _make_embedding_client() -> EmbeddingClient | LocalEmbeddingClient:
    model = embedding_model()
    if model and model.folder:
        return LocalEmbeddingClient(model.folder)
    timeout_seconds = settings.OPENAI_TIMEOUT_SECONDS
    return EmbeddingClient(embedding_base_url(), embedding_api_key(), timeout_seconds=timeout_seconds)


def _make_web_search_client() -> WebSearchClient:
    return WebSearchClient(settings.WEB_SEARCH_URL, timeout_seconds=settings.WEB_SEARCH_SECONDS)


def _timeouts() -> Timeouts:
    waiting_seconds = settings.OPENAI_TIMEOUT_SECONDS
    return Timeouts(
        first_byte_seconds=waiting_seconds,
        idle_seconds=waiting_seconds,
        total_seconds=settings.REPLY_TIMEOUT_SECONDS,
        alive_seconds=settings.OPENAI_ALIVE_TIMEOUT_SECONDS,
    )


_completion_clients = _PerLoop(_make_completion_client)
_embedding_clients = _PerLoop(_make_embedding_client)
_web_search_clients = _PerLoop(_make_web_search_client)
