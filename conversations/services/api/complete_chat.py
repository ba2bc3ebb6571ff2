"""Make a chat completion of a program: open its row of the ledger, stream the completion, settle the row.

    prepare_chat ─▶ one transaction: key and owner admitted, limits of both, row opened, worst case reserved
                 ─▶ the provider ─▶ row settled

The rules of conversations hold: what may succeed unchanged is asked at most three times, and only before the first
token; a prompt that the provider finds too long is made smaller. Nothing is stored but the row of the ledger.
"""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from django.db import connection, transaction
from django.utils import timezone

from chatsite.accounts.limits import effective_limits
from conversations.access import lock_admitted
from conversations.core.errors import (
    AnswerInterrupted,
    CompletionError,
    ContextTooLong,
    ProviderTimedOut,
    RoomUsedUpByReasoning,
    StreamBroken,
    WorkerExhausted,
)
from conversations.core.prompt.finish_reasons import LENGTH, end_of
from conversations.live.database_retries import retry_while_database_down
from conversations.models import Completion
from conversations.models.completion import Purpose
from conversations.providers.clients.completions import CompletionClient
from conversations.services.ledger.ledger import NewCompletion, open_completion, settle_completion
from conversations.services.ledger.provider_attempts import (
    MOST_ATTEMPTS,
    finish_before_cancelling,
    known_errors,
    open_row,
    raise_final_error,
    retry_pause_seconds,
)
from conversations.services.limits.key_limits import check_key_money, check_key_rate, lock_open_key
from conversations.services.limits.message_checks import check_one_more_reply
from conversations.services.replies.complete_step import MOST_GUESSES, TextSink, follow_completion
from conversations.services.replies.step_progress import StepProgress

from .completed_chat import ChatUsage, CompletedChat
from .idempotent_requests import Idempotency, note_next_attempt, store_once
from .prepare_chat import PreparedChat, prepare_tighter_chat

SETTLED = """
SELECT input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, usage_estimated, cost_usd, opening_key
FROM conversations_completion WHERE id = %s
"""


async def complete_chat(
    prepared: PreparedChat,
    *,
    sink: TextSink,
    client: CompletionClient,
    note_window: Callable[[uuid.UUID], object] = lambda _: None,
    idempotency: Idempotency | None = None,
    holder: str = "",
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> CompletedChat:
    """Ask the provider, passing its words on to *sink*. *note_window* is told the id of each row that is opened.

    *holder* is the process that makes it. Raises the `ConversationError` that ended it, or `RequestSentAgain` where
    *idempotency* says that the same request was stored before; then nothing is sent. A cancellation closes the
    connection to the provider and settles the ledger before it goes on; its message is the error code.
    """
    tightened = 0
    for attempt in itertools.count(1):
        completion = await open_row(partial(open_chat, prepared, attempt, idempotency=idempotency, holder=holder))
        note_window(completion.opening_key)
        progress = StepProgress(prepared.may_call, prepared.tightening, prepared.context)
        try:
            return await _attempt(prepared, completion, progress, sink, client)
        except CompletionError as error:
            if progress.has_begun:
                raise
            if isinstance(error, ContextTooLong) and tightened < (1 if error.names_a_number else MOST_GUESSES):
                prepared = await retry_while_database_down(partial(prepare_tighter_chat, prepared, error))
                tightened += 1
                continue
            pause_seconds = retry_pause_seconds(error, attempt, most_attempts=MOST_ATTEMPTS + tightened)
            if pause_seconds is None or isinstance(error, ProviderTimedOut | WorkerExhausted):
                raise_final_error(error)
                raise
        await sleep(pause_seconds)
    raise AssertionError("the attempts have no end but these")


def open_chat(
    prepared: PreparedChat,
    attempt: int,
    opening_key: uuid.UUID,
    *,
    idempotency: Idempotency | None = None,
    holder: str = "",
) -> Completion:
    """Open the row of the ledger, with its reservation, if the limits of the owner and of the key allow it.

    A request whose client has gone is not begun. Raises `RequestSentAgain` before the limits are asked, or an
    `AccessError`: of the key, or as `check_one_more_reply` and `open_completion` do.
    """
    key, record = prepared.key, prepared.window.record
    new = NewCompletion(
        purpose=Purpose.API,
        user=key.owner,
        language_model=record.language_model,
        body=prepared.body_for_ledger(),
        prices=prepared.context.unit_prices(at=timezone.now()),
        prompt_tokens=record.prompt_tokens,
        most_prompt_tokens=record.most_prompt_tokens,
        max_output_tokens=record.reply_reserve_tokens,
        attempt=attempt,
        record=record,
        scenario=prepared.scenario,
        api_key_id=key.pk,
        opening_key=opening_key,
        holder_process=holder,
    )
    with transaction.atomic():
        lock_admitted(key.owner)
        lock_open_key(key.pk)
        if idempotency is not None:
            if idempotency.client_has_gone and attempt == 1:
                raise AnswerInterrupted
            _store_idempotency(idempotency, attempt, opening_key, holder)
        if attempt == 1:
            check_one_more_reply(key.owner, effective_limits(key.owner))
            check_key_rate(key)
        check_key_money(key, new.worst_usd)
        return open_completion(new)


def _store_idempotency(idempotency: Idempotency, attempt: int, opening_key: uuid.UUID, holder: str) -> None:
    if attempt == 1:
        store_once(idempotency, holder=holder, window_id=opening_key)
    else:
        note_next_attempt(idempotency, opening_key)


async def _attempt(
    prepared: PreparedChat, completion: Completion, progress: StepProgress, sink: TextSink, client: CompletionClient
) -> CompletedChat:
    """Make the request whose row of the ledger is open, and settle the row however it ends."""
    ended_by: BaseException | None = None
    try:
        with known_errors():
            await follow_completion(prepared.request_with_pictures(), progress, sink, client)
    except RoomUsedUpByReasoning as error:  # a program knows this as an answer that was cut off
        ended_by = error
    except (CompletionError, asyncio.CancelledError) as error:
        await finish_before_cancelling(_settle(completion, progress, error))
        raise
    usage = await finish_before_cancelling(_settle(completion, progress, ended_by))
    finish_reason = (progress.end.finish_reason if progress.end and not ended_by else None) or LENGTH
    if end_of(finish_reason) == "error":
        raise StreamBroken(detail="the provider ended it with an error")
    return CompletedChat(progress, usage, finish_reason)


async def _settle(completion: Completion, progress: StepProgress, ended_by: BaseException | None) -> ChatUsage:
    # It is no tool step: the calls are the program's own.
    outcome = replace(progress.outcome(ended_by), called_tools=False)

    def settle() -> ChatUsage:
        settle_completion(completion, outcome)
        with connection.cursor() as cursor:
            return ChatUsage(*cursor.execute(SETTLED, [completion.pk]).fetchone())

    return await retry_while_database_down(settle)
