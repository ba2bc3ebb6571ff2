"""What replies are looked up in: embeddings, the web search, and MCP servers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace

from django.conf import settings
from django.db.utils import Error

from chatsite.checkup import Line
from conversations.core.errors import CompletionError, ToolError, WebSearchError
from conversations.core.errors.stored_errors import sentence_for
from conversations.models import McpServer
from conversations.providers.catalog.embedding_models import (
    ConfiguredEmbeddingModel,
    embedding_api_key,
    embedding_base_url,
    embedding_model,
)
from conversations.providers.clients.client_pool import close_clients, embedding_client, web_search_client
from conversations.providers.clients.embeddings import embedding_requests
from conversations.providers.clients.model_list import list_models
from conversations.providers.egress.destinations import EgressRefused
from conversations.providers.mcp import open_session
from conversations.tools.mcp_listings import connection_to

from . import database
from .options import Options
from .provider import judge_models

MCP_SECONDS = 10.0


def check_embeddings(options: Options) -> Iterator[Line]:
    subject = "embeddings"
    try:
        model = embedding_model()
    except ValueError:
        return  # which the check of settings tells
    if model is None:
        text = "Off: passages and older messages are found by their words alone."
        yield Line("ok", subject, text, "OPENAI_EMBEDDING_MODEL or LOCAL_EMBEDDINGS finds them by their meaning, too.")
    elif model.folder or options.completes:
        yield asyncio.run(_try_embedding(model, subject))
    else:
        base_url, key = embedding_base_url(), embedding_api_key() or ""
        for line in judge_models(base_url, key, list_models(base_url, key)):
            if "LANGUAGE_MODELS" not in line.advice:
                yield replace(line, subject=subject, advice=line.advice.replace("OPENAI_", "OPENAI_EMBEDDING_"))


async def _try_embedding(model: ConfiguredEmbeddingModel, subject: str) -> Line:
    [request] = embedding_requests(["ok"], model, longest_tokens=model.context_window_tokens)
    try:
        found = await embedding_client().embed(request)
    except (CompletionError, EgressRefused) as error:
        detail = error.detail if isinstance(error, CompletionError) else str(error)
        return Line("bad", subject, f"{model.name} gave no vector: {detail}", "docs/documents.md says what it needs.")
    finally:
        await close_clients()
    return Line("ok", subject, f"{model.name} answers with vectors of {len(found.vectors[0]):,} numbers.")


def try_web_search(options: Options) -> Iterator[Line]:
    if settings.WEB_SEARCH_URL:
        yield asyncio.run(_try_web_search("web-search"))
    else:
        yield Line("ok", "web-search", "Off: WEB_SEARCH_URL is empty.")


async def _try_web_search(subject: str) -> Line:
    advice = "See that SearXNG runs there, and that its settings.yml has json among search.formats."
    try:
        found = await web_search_client().search("windowseat", most=3)
    except WebSearchError as error:
        return Line("bad", subject, f"{sentence_for(error.code, error.params)} {error.detail}", advice)
    except EgressRefused as error:
        return Line("bad", subject, f"WEB_SEARCH_URL: {error}", advice)
    finally:
        await close_clients()
    if not found:
        return Line("look", subject, "It answers, and found nothing.", "See whether its search engines answer.")
    return Line("ok", subject, "It answers with results.")


def check_mcp_servers(options: Options) -> Iterator[Line]:
    subject = "mcp-servers"
    if database.is_still_to_be_made():
        yield Line("ok", subject, "None is set up.")
        return
    try:
        servers = list(McpServer.objects.filter(enabled=True))
    except Error:
        yield Line("look", subject, database.AWAY)
        return
    if not servers:
        yield Line("ok", subject, "None is enabled.")
    else:
        yield from asyncio.run(_try_servers(servers, subject))


async def _try_servers(servers: list[McpServer], subject: str) -> list[Line]:
    return list(await asyncio.gather(*(_try_server(server, subject) for server in servers)))


async def _try_server(server: McpServer, subject: str) -> Line:
    try:
        connection = replace(connection_to(server), timeout_seconds=min(server.timeout_seconds, MCP_SECONDS))
        async with open_session(connection) as session:
            listing = await session.tools(server=server.name)
    except ToolError as error:
        text = f"{server.name}: {sentence_for(error.code, error.params)} {error.detail}"
        return Line("bad", subject, text, "Correct its address or authorisation in the admin, or disable it.")
    return Line("ok", subject, f"{server.name} lists its tools, {len(listing.kept)} in number.")
