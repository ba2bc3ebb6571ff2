"""Preview the window of a chat completion: what would be sent, and what it would cost at most.

Nothing is stored, nothing leaves, and nothing is billed. What a question means is not asked of an embeddings model, so
recall looks by words alone here.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.utils import timezone

from chatsite.accounts.limits import effective_limits
from conversations.core.api.chat_request import ChatRequest
from conversations.core.errors import ConversationError, ParameterInvalid
from conversations.core.money.allowance import allowance_error
from conversations.core.money.unit_prices import worst_case_usd
from conversations.core.window.window_record import WindowRecord
from conversations.models import ApiKey, Conversation
from conversations.services.language_models.model_choice import choose_model
from conversations.services.limits.message_checks import user_allowances, worst_reply_cost
from conversations.services.messages.estimate_draft import DraftEstimate, estimate_draft

from .ask_conversation import check_it_says_only_what_is_new
from .key_access import find_conversation_of_key, find_model_of_key, scenario_of_key
from .prepare_chat import prepare_chat


@dataclass(frozen=True, slots=True)
class WindowPreview:
    """The record of a window that was not sent. *worst_usd* is None where a price is unknown.

    *error* is what sending it now would be refused with by the limits of the key's owner.
    """

    record: WindowRecord
    worst_usd: Decimal | None
    error: ConversationError | None = None


def preview_window(key: ApiKey, request: ChatRequest) -> WindowPreview:
    """Return the window that *request* would be sent in. Raises what asking would raise, where no window holds it."""
    return _in_conversation(key, request) if request.conversation else _without(key, request)


def _without(key: ApiKey, request: ChatRequest) -> WindowPreview:
    prepared = prepare_chat(key, request)
    record = prepared.window.record
    worst_usd = worst_case_usd(
        prepared.context.unit_prices(at=timezone.now()),
        input_tokens=record.most_prompt_tokens,
        output_tokens=record.reply_reserve_tokens,
    )
    found = user_allowances(key.owner, effective_limits(key.owner))
    return WindowPreview(record, worst_usd, allowance_error(found, worst_usd) if found else None)


def _in_conversation(key: ApiKey, request: ChatRequest) -> WindowPreview:
    check_it_says_only_what_is_new(request)
    find_model_of_key(key, request.language_model)
    if request.messages.pictures:
        raise ParameterInvalid("messages", "with a conversation, pictures are counted only once they are sent")
    estimated = _estimate(key, request)
    replying = choose_model(estimated.conversation).configured.name
    if replying != request.language_model:
        raise ParameterInvalid("model", f"the language model of this conversation is {replying}")
    if estimated.window is None:
        raise estimated.error or ParameterInvalid("messages", "no window holds it")
    return WindowPreview(estimated.window.record, _worst_usd(estimated, estimated.window.record), estimated.error)


def _estimate(key: ApiKey, request: ChatRequest) -> DraftEstimate:
    content, public_id = request.messages.newest.content, request.conversation
    if public_id and Conversation.objects.filter(public_id=public_id).exists():
        conversation = find_conversation_of_key(key, public_id)
        return estimate_draft(user=key.owner, conversation=conversation, content=content, with_recall=True)
    scenario = scenario_of_key(key)
    return estimate_draft(
        user=key.owner,
        conversation=None,
        content=content,
        scenario_id=scenario.pk if scenario else None,
        language_model=request.language_model,
        with_recall=not key.is_bound,  # there are but other conversations, of which such a key recalls nothing
    )


def _worst_usd(estimated: DraftEstimate, record: WindowRecord) -> Decimal | None:
    """Return it also for an owner who is not shown costs on pages."""
    if estimated.worst_usd is not None:
        return estimated.worst_usd
    is_looked_up = bool(estimated.documents) or estimated.searches_web
    return worst_reply_cost(record, estimated.conversation, is_looked_up=is_looked_up).within(estimated.allowances)
