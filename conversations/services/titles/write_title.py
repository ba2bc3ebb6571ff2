"""Write the next title that is due: claimed, written by the model of TITLE_MODEL, cleaned, stored. Once for each.

What a person has called the conversation meanwhile stays: a single UPDATE asks for that again. Whatever goes wrong,
the conversation keeps the title that it has, its first words.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from django.conf import settings
from django.db import connection, transaction

from chatsite.names import clean_name
from conversations.core.errors import CompletionError, ConversationError, UnusableTitle
from conversations.core.frames.definitions import ConversationRenamed
from conversations.core.prompt.title_text import clean_title, title_request
from conversations.live.database_threads import in_indexer_thread
from conversations.live.fanout import person_topic, publish
from conversations.models import Conversation, TitleState
from conversations.models.completion import Purpose
from conversations.providers.clients.completions import CompletionClient
from conversations.services.language_models.model_context import ModelContext, named_model_context
from conversations.services.ledger.bounded_request import BoundedRequest

from .claim_title import (
    MOST_ATTEMPTS,
    TITLE_SECONDS,
    ClaimedTitle,
    claim_title,
    end_title,
    read_claimed_title,
    release_title,
    sendable_messages,
)
from .want_title import titles_are_written

TITLE_TOKENS = 60
THOUGHT_TOKENS = 1_000  # what a model may write before it, where its reply reserve has room for it
PAUSES_SECONDS = (15.0, 60.0)  # before the second attempt, and before the third
AGAIN = """
UPDATE conversations_titlestate
SET due_at = clock_timestamp() + make_interval(secs => %s), worker = '', lease_until = NULL
WHERE conversation_id = %s AND worker = %s
"""
LOCK = """
SELECT FROM conversations_conversation
WHERE id = %s AND deleted_at IS NULL AND NOT title_is_given AND title = %s FOR KEY SHARE
"""
logger = logging.getLogger(__name__)


class TitleLost(Exception):
    """A person has named or deleted the conversation meanwhile, or it begins differently now."""


async def write_next_title(worker: str, client: CompletionClient) -> bool:
    """Write one title, or leave the one that there is. Returns whether there was one to write."""
    claimed = await in_indexer_thread(claim_title)(worker) if titles_are_written() else None
    if claimed is None:
        return False
    try:
        await _write(worker, *claimed, client)
    except asyncio.CancelledError:
        await in_indexer_thread(release_title)(worker, *claimed)
        raise
    return True


async def _write(worker: str, conversation_id: int, attempt: int, client: CompletionClient) -> None:
    writer = await in_indexer_thread(named_model_context)(settings.TITLE_MODEL)
    claimed = await in_indexer_thread(partial(read_claimed_title, writer=writer))(worker, conversation_id, attempt)
    if claimed is None:
        await in_indexer_thread(end_title)(worker, conversation_id)
        return
    try:
        title = await _ask(claimed, writer, client)
        await in_indexer_thread(store_title)(claimed, title)
    except TitleLost:
        await in_indexer_thread(_try_again)(claimed, 0.0)  # and then as the conversation is by then, if at all
    except ConversationError as error:
        detail = error.detail if isinstance(error, CompletionError) else ""
        logger.warning("the title of conversation %d: %s %s", conversation_id, error.code, detail)
        await in_indexer_thread(_end_attempt)(claimed, error)


async def _ask(claimed: ClaimedTitle, writer: ModelContext, client: CompletionClient) -> str:
    """Return the title. Raises `TitleLost`, `UnusableTitle` or what else ended the request."""
    request = BoundedRequest(
        purpose=Purpose.TITLE,
        conversation=claimed.conversation,
        writer=writer,
        prompt=title_request(claimed.question, claimed.reply),
        max_output_tokens=_max_output_tokens(writer),
        timeout_seconds=TITLE_SECONDS,
        attempt=claimed.attempt,
        lock=partial(_lock_what_is_sent, claimed),
        too_long=UnusableTitle,
        cut_off=UnusableTitle,
    )
    written = await request.ask(client)
    if title := clean_name(clean_title(written, question=claimed.question)):
        return title
    raise UnusableTitle


def _max_output_tokens(writer: ModelContext) -> int:
    reserve_tokens = writer.language_model.reply_reserve_tokens
    return min(TITLE_TOKENS + THOUGHT_TOKENS, max(TITLE_TOKENS, reserve_tokens))


def _lock_what_is_sent(claimed: ClaimedTitle) -> None:
    """Keep the conversation while its row of the ledger is opened: what may not be sent any more is not."""
    with connection.cursor() as cursor:
        cursor.execute(LOCK, [claimed.conversation.pk, claimed.conversation.title])
        if cursor.fetchone() is None:
            raise TitleLost
    if sendable_messages(claimed.conversation.pk).filter(pk__in=(claimed.question_id, claimed.reply_id)).count() < 2:
        raise TitleLost


@transaction.atomic
def store_title(claimed: ClaimedTitle, title: str) -> None:
    """Name the conversation and tell the pages of its owner. Raises `TitleLost`, and then changes nothing."""
    unnamed = Conversation.objects.filter(pk=claimed.conversation.pk, deleted_at=None, title_is_given=False)
    # The conversation's row first, and then the state, as all do that change the path: so no two block each other.
    renamed = unnamed.filter(title=claimed.conversation.title).update(title=title)
    mine = TitleState.objects.filter(pk=claimed.conversation.pk, worker=claimed.worker)
    if not renamed or not mine.update(due_at=None, worker="", lease_until=None):
        raise TitleLost
    frame = ConversationRenamed(claimed.conversation.public_id, title)
    transaction.on_commit(partial(publish, person_topic(claimed.conversation.owner_id), frame.to_json()))


def _end_attempt(claimed: ClaimedTitle, error: ConversationError) -> None:
    """Try again later where that may help: not for another answer, nor where the money does not cover it."""
    may_help = isinstance(error, CompletionError) and error.retryable
    if not may_help or claimed.attempt >= MOST_ATTEMPTS:
        end_title(claimed.worker, claimed.conversation.pk)
        return
    _try_again(claimed, PAUSES_SECONDS[claimed.attempt - 1])


def _try_again(claimed: ClaimedTitle, pause_seconds: float) -> None:
    with connection.cursor() as cursor:
        cursor.execute(AGAIN, [pause_seconds, claimed.conversation.pk, claimed.worker])
