"""What owners make of a conversation's summary: keep one or none, edit it, go back to the version before."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F

from conversations.core.errors import SummaryChanged, SummaryEmpty, SummaryTooLong
from conversations.core.prompt.summary_text import render_summary
from conversations.core.text.storable_text import UNSTORABLE
from conversations.models import Conversation, Summary, SummaryState
from conversations.selectors.conversations.summary import current_summary, previous_summary
from conversations.services.counting.model_context import conversation_policy, model_context

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
    """Store *text* as the next version, in place of *version*, which was seen.

    What is written from now on goes on from it. Raises `SummaryChanged`, `SummaryEmpty` or `SummaryTooLong`.
    """
    state, current = _lock_current(conversation, version)
    cleaned = UNSTORABLE.sub("", text.replace("\r\n", "\n")).strip()
    if not cleaned:
        raise SummaryEmpty
    _check_length(conversation, cleaned)
    state.current = add_version(
        conversation,
        cleaned,
        covers_before=current.covers_before,
        last_message_id=current.last_message_id,
        messages=current.messages,
    )
    _store(state)
    return state.current


@transaction.atomic
def undo_summary(conversation: Conversation, *, version: int) -> Summary:
    """Make the version before *version*, which was seen, current again. Raises `SummaryChanged` if there is none."""
    state, current = _lock_current(conversation, version)
    if (previous := previous_summary(current)) is None:
        raise SummaryChanged
    state.current = previous
    _store(state)
    return previous


def _lock_current(conversation: Conversation, version: int) -> tuple[SummaryState, Summary]:
    state = SummaryState.objects.select_for_update(no_key=True).filter(pk=conversation.pk).first()
    current = current_summary(conversation.pk)
    if state is None or current is None or current.number != version:
        raise SummaryChanged
    return state, current


def _store(state: SummaryState) -> None:
    """Store what is current; what a worker writes meanwhile of the version before is of no use."""
    state.revision, state.error_code, state.error_params = F("revision") + 1, "", {}
    state.save(update_fields=["current", "revision", "error_code", "error_params"])


def _check_length(conversation: Conversation, text: str) -> None:
    context = model_context(conversation.scenario)
    message_tokens = context.language_model.chat_format.overhead_tokens + context.content_tokens(render_summary(text))
    over = message_tokens - conversation_policy(conversation).summary_cap_tokens
    if over > 0:
        raise SummaryTooLong(tokens_over=over)
