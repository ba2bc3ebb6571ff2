"""Store what was written of a summary as its next version, or note why nothing was; the versions before it stay."""

from __future__ import annotations

import datetime as dt

from django.db import connection, transaction
from django.db.models import Max

from conversations.core.errors import CompletionError
from conversations.core.prompt.summary_text import render_summary
from conversations.models import Conversation, Summary, SummaryState
from conversations.selectors.conversations.key_share_lock import LOCK_CONVERSATION
from conversations.services.language_models.model_context import conversation_context

from .claim_summary import MOST_ATTEMPTS, ClaimedSummary
from .write_summary import WrittenSummary

MOST_VERSIONS = 20
PAUSES_SECONDS = (15.0, 60.0)  # before the second attempt, and before the third


@transaction.atomic
def store_written(claimed: ClaimedSummary, written: WrittenSummary) -> bool:
    """Store *written* as the current version, if it stands for more than the one before, and let the conversation go.

    Returns False, and adds no version, if it is of no use any more: its owner has edited the one before meanwhile, or a
    message that it stands for has left the path or was excluded. Then it is due at once. The lease ends all the same.
    """
    state = _lock(claimed)
    if state is None:
        return False
    is_of_use = state.revision == claimed.revision
    if is_of_use and written.messages:
        _add_written(claimed, written)
    if is_of_use:
        state.error_code = written.error.code if written.error else ""
        state.error_params = written.error.params if written.error else {}
    if is_of_use and state.due_at == claimed.due_at:  # else the window's beginning has moved again meanwhile
        state.due_at = _due_again(claimed, written)
        state.attempt = 0 if state.due_at is None else state.attempt
    state.worker, state.lease_until = "", None
    state.save()
    return is_of_use


def release_summary(claimed: ClaimedSummary) -> None:
    """Let another worker write it at once: this process ends, or what it wrote is of no use."""
    mine = SummaryState.objects.filter(pk=claimed.conversation.pk, worker=claimed.worker)
    mine.update(worker="", lease_until=None, attempt=max(claimed.attempt - 1, 0))


def _lock(claimed: ClaimedSummary) -> SummaryState | None:
    """Return the state, locked until the transaction ends; None if it is another worker's, or is being deleted."""
    with connection.cursor() as cursor:
        cursor.execute(LOCK_CONVERSATION, {"conversation": claimed.conversation.pk})
        if cursor.fetchone() is None:
            return None
    states = SummaryState.objects.select_for_update(no_key=True)
    return states.filter(pk=claimed.conversation.pk, worker=claimed.worker).first()


def _due_again(claimed: ClaimedSummary, written: WrittenSummary) -> dt.datetime | None:
    """Return when to try again, after a failure that another attempt may mend."""
    may_help = isinstance(written.error, CompletionError)  # but not where the money does not cover it
    if not may_help or claimed.attempt >= MOST_ATTEMPTS:
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp() + make_interval(secs => %s)", [PAUSES_SECONDS[claimed.attempt - 1]])
        due_at: dt.datetime = cursor.fetchone()[0]
    return due_at


def _add_written(claimed: ClaimedSummary, written: WrittenSummary) -> None:
    last = written.messages[-1]
    add_version(
        claimed.conversation,
        written.text,
        covers_before=last.position + 1,
        last_message_id=last.id,
        messages=len(written.messages) + (claimed.base.messages if claimed.base else 0),
        language_model=written.language_model,
    )


def add_version(
    conversation: Conversation,
    text: str,
    *,
    covers_before: int,
    last_message_id: int,
    messages: int,
    language_model: str = "",
) -> Summary:
    """Store *text* as the next version, current from now on, and delete the oldest of too many.

    Without a model its owner wrote it.
    """
    versions = Summary.objects.filter(conversation=conversation)
    number = 1 + (versions.aggregate(last=Max("number"))["last"] or 0)
    context = conversation_context(conversation)
    versions.filter(number__lte=number - MOST_VERSIONS).delete()
    return versions.create(
        conversation=conversation,
        number=number,
        text=text,
        tokens=context.content_tokens(render_summary(text)),
        encoding=context.language_model.encoding,
        covers_before=covers_before,
        last_message_id=last_message_id,
        messages=messages,
        language_model=language_model,
        edited=not language_model,
    )
