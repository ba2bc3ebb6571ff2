"""Vectors of texts, from the configured embeddings model: every request reserved, and settled in the ledger.

A request is tried again as a reply's is: at most twice, if it may succeed unchanged. A text that the endpoint finds too
long after all is cut further, because what tokenizer it has is often not known.
"""

from __future__ import annotations

import asyncio
import itertools
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from django.db import connection, models, transaction
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.core.errors import CompletionError, ContextTooLong, EmbeddingsChanged, MalformedEmbeddings
from conversations.models import Completion, Conversation, Scenario
from conversations.models.completion import Purpose
from conversations.providers.catalog.embedding_models import ConfiguredEmbeddingModel, embedding_model
from conversations.providers.clients.client_pool import embedding_client
from conversations.providers.clients.embeddings import EmbeddingRequest, Embeddings, Vector, embedding_requests
from conversations.services.language_models.prices import find_unit_prices
from conversations.services.ledger.ledger import NewCompletion, Outcome, open_completion
from conversations.services.ledger.provider_attempts import (
    finish_before_cancelling,
    known_errors,
    open_row,
    retry_pause_seconds,
    settle_row,
)

M = TypeVar("M", bound=models.Model)
SHORTEST_CUT_TOKENS = 64  # what can't take this takes nothing


@dataclass(frozen=True, slots=True)
class Payer:
    """The user who pays for embeddings (None: the site), and the conversation or scenario that they are for."""

    user: User | None
    conversation: Conversation | None = None
    scenario: Scenario | None = None


async def embed_texts(
    texts: Sequence[str],
    *,
    user: User | None,
    conversation: Conversation | None = None,
    scenario: Scenario | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> list[Vector]:
    """Return the vector of each of *texts*, all of one length; *user* pays, or the site.

    Raises a `CompletionError` if the endpoint fails, an `AccessError` if the money does not cover a request. Look at
    `embedding_model` first: without one there is no endpoint to ask.
    """
    model = embedding_model()
    if model is None:
        raise ValueError("there is no embeddings model")
    payer = Payer(user, conversation, scenario)
    vectors = await _embed(texts, model, payer, longest_tokens=model.context_window_tokens, sleep=sleep)
    if len({len(vector) for vector in vectors}) > 1:
        raise EmbeddingsChanged(detail="requests of one look got vectors of several lengths")
    return vectors


async def _embed(
    texts: Sequence[str],
    model: ConfiguredEmbeddingModel,
    payer: Payer,
    *,
    longest_tokens: int,
    sleep: Callable[[float], Awaitable[None]],
) -> list[Vector]:
    """Make as many requests as *texts* take, and cut each text to *longest_tokens*, or further if that is too long."""
    vectors: list[Vector] = []
    for request in embedding_requests(texts, model, longest_tokens=longest_tokens):
        try:
            vectors += await _ask_until_answered(request, payer, sleep)
        except ContextTooLong:
            if longest_tokens < 2 * SHORTEST_CUT_TOKENS:
                raise
            shorter = longest_tokens // 2
            vectors += await _embed(request.texts, model, payer, longest_tokens=shorter, sleep=sleep)
    return vectors


async def _ask_until_answered(
    request: EmbeddingRequest, payer: Payer, sleep: Callable[[float], Awaitable[None]]
) -> list[Vector]:
    for attempt in itertools.count(1):
        try:
            return (await _attempt(request, payer, attempt)).vectors
        except CompletionError as error:
            pause_seconds = retry_pause_seconds(error, attempt)
            if pause_seconds is None:
                raise
        await sleep(pause_seconds)
    raise AssertionError("it counts without an end")


async def _attempt(request: EmbeddingRequest, payer: Payer, attempt: int) -> Embeddings:
    """Make one request, with its row of the ledger."""
    client = embedding_client()
    completion = await open_row(partial(_open, request, payer, attempt))
    began = time.monotonic()
    try:
        with known_errors(MalformedEmbeddings):
            embeddings = await client.embed(request)
    except (CompletionError, asyncio.CancelledError) as ended_by:
        await finish_before_cancelling(settle_row(completion, _outcome_of_failure(ended_by, time.monotonic() - began)))
        raise
    await finish_before_cancelling(settle_row(completion, _outcome(embeddings, time.monotonic() - began)))
    return embeddings


def _outcome(embeddings: Embeddings, duration_seconds: float) -> Outcome:
    return Outcome(
        usage=embeddings.usage,
        provider_request_id=embeddings.provider_request_id,
        duration_seconds=duration_seconds,
    )


def _outcome_of_failure(ended_by: CompletionError | asyncio.CancelledError, duration_seconds: float) -> Outcome:
    """Return what the ledger keeps. What was cancelled had left, so it may have been billed."""
    if isinstance(ended_by, asyncio.CancelledError):
        return Outcome(finish_reason="stopped", duration_seconds=duration_seconds)
    return Outcome(
        not_billed=not ended_by.may_be_billed,
        error_code=ended_by.code,
        provider_request_id=ended_by.request_id,
        duration_seconds=duration_seconds,
    )


def _open(request: EmbeddingRequest, payer: Payer, attempt: int, opening_key: uuid.UUID) -> Completion:
    with transaction.atomic():
        return open_completion(
            NewCompletion(
                purpose=Purpose.EMBEDDING,
                user=_kept(payer.user),
                language_model=request.model.name,
                body=request.to_json(),
                prices=find_unit_prices(request.model.name, timezone.now()),
                prompt_tokens=request.tokens,
                most_prompt_tokens=request.most_tokens,
                max_output_tokens=0,
                attempt=attempt,
                conversation=_kept(payer.conversation),
                scenario=_kept(payer.scenario),
                opening_key=opening_key,
            )
        )


def _kept(row: M | None) -> M | None:
    """Return *row*, locked against deletion until the transaction ends; None if it is gone already.

    Documents are read and embedded long after they were sent, and what they belonged to may be gone by then.
    """
    if row is None:
        return None
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT 1 FROM {row._meta.db_table} WHERE id = %s FOR KEY SHARE", [row.pk])  # noqa: S608
        return row if cursor.fetchone() else None
