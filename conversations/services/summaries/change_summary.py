"""What owners make of a conversation's summary: keep one or none, edit it, go back to the version before."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F

from conversations.core.errors import SummaryChanged, SummaryEmpty, SummaryTooLong
from conversations.core.prompt.summary_text import render_summary
from conversations.core.text.storable_text import clean_typed_text
from conversations.models import Conversation, Summary, SummaryState
from conversations.selectors.conversations.summary import previous_summary, sendable_summaries
from conversations.services.language_models.effective_policy import conversation_policy
from conversations.services.language_models.model_context import conversation_context

from .store_summary import add_version
from .want_summary import want_summary


def summarise_conversation(conversation: Conversation, *, summarises: bool) -> None:
    """Keep a summary of what has left the window from now on, or none. Versions that there are stay."""
    Conversation.objects.filter(pk=conversation.pk).update(summarises=summarises)
    conversation.summarises = summarises
    if summarises:
        want_summary(conversation.pk)


@transaction.atomic
def edit_summary(conversation: Conversation, *, version: int, text: str) -> Summary:
    """Store *text* as the next version, in place of *version*, which was seen; the next request has it.

    What is written from now on goes on from it. Raises `SummaryChanged`, `SummaryEmpty` or `SummaryTooLong`.
    """
    state, current = _lock_current(conversation, version)
    cleaned = clean_typed_text(text)
    if not cleaned:
        raise SummaryEmpty
    _check_length(conversation, cleaned)
    edited = add_version(
        conversation,
        cleaned,
        covers_before=current.covers_before,
        last_message_id=current.last_message_id,
        messages=current.messages,
    )
    _send_at_once(state, edited, conversation)
    return edited


@transaction.atomic
def undo_summary(conversation: Conversation, *, version: int) -> Summary:
    """Make the version before *version*, which was seen, current again. Raises `SummaryChanged` if there is none.

    What was undone is never sent nor gone on from again.
    """
    state, current = _lock_current(conversation, version)
    if (previous := previous_summary(current)) is None:
        raise SummaryChanged
    current.undone = True
    current.save(update_fields=["undone"])
    _send_at_once(state, previous, conversation)
    return previous


def _lock_current(conversation: Conversation, version: int) -> tuple[SummaryState, Summary]:
    """Lock the conversation's row, and then the state, as all do that change the path: so no two block each other."""
    Conversation.objects.select_for_update(no_key=True).filter(pk=conversation.pk).first()
    state = SummaryState.objects.select_for_update(no_key=True).filter(pk=conversation.pk).first()
    sendable = sendable_summaries(conversation)
    if state is None or sendable is None or sendable.current.number != version:
        raise SummaryChanged
    return state, sendable.current


def _send_at_once(state: SummaryState, current: Summary, conversation: Conversation) -> None:
    """Have *current* sent from the next request on, also if the window's beginning stays where it is.

    What a worker writes meanwhile of the version before is of no use, nor does a window that is being chosen keep it.
    """
    conversation.summary_version = current.number
    conversation.save(update_fields=["summary_version"])
    state.revision, state.error_code, state.error_params = F("revision") + 1, "", {}
    state.save(update_fields=["revision", "error_code", "error_params"])


def _check_length(conversation: Conversation, text: str) -> None:
    context = conversation_context(conversation)
    message_tokens = context.language_model.chat_format.overhead_tokens + context.content_tokens(render_summary(text))
    over = message_tokens - conversation_policy(conversation).summary_cap_tokens
    if over > 0:
        raise SummaryTooLong(tokens_over=over)
