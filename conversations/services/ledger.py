"""The ledger: a row before each request to a provider, settled once when the request has ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models.functions import Now

from conversations.core.digest import digest_of, digest_of_text
from conversations.core.record import WindowRecord
from conversations.core.usage import UnitPrices, Usage, cost_usd
from conversations.models import Completion, Message, SystemPrompt
from conversations.providers.tokenizer import count_text

from .calibration import learn
from .prices import price_columns, price_list_column, prices_when_opened


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a request ended, in the order in which a reader of the ledger asks.

    Without *usage* from the provider it is estimated: the prompt as counted and the *text* that came, or nothing at all
    if the request was *not_billed*, because the provider refused it.
    """

    text: str = ""
    usage: Usage | None = None
    not_billed: bool = False
    finish_reason: str = ""
    error_code: str = ""
    provider_request_id: str = ""
    time_to_first_token_seconds: float | None = None
    duration_seconds: float | None = None


def open_completion(
    reply: Message, record: WindowRecord, *, attempt: int, body: Mapping[str, Any], prices: UnitPrices | None
) -> Completion:
    """Write the row of a request that is about to leave with the JSON *body*, at the prices of now."""
    conversation = reply.conversation
    messages = body["messages"]
    return Completion.objects.create(
        user_id=conversation.owner_id,
        conversation=conversation,
        reply=reply,
        scenario_id=conversation.scenario_id,
        attempt=attempt,
        language_model=record.language_model,
        window=record.to_json(),
        request={name: value for name, value in body.items() if name != "messages"},
        system_prompt=_keep_system_prompt(messages),
        messages_digest=digest_of(messages),
        estimated_input_tokens=record.prompt_tokens,
        price_list=price_list_column(prices),
        **price_columns(prices, input_tokens=record.prompt_tokens),
    )


def _keep_system_prompt(messages: Sequence[Mapping[str, Any]]) -> SystemPrompt | None:
    if not messages or messages[0]["role"] != "system":
        return None
    text = messages[0]["content"]
    kept = SystemPrompt(digest=digest_of_text(text), text=text)
    SystemPrompt.objects.bulk_create([kept], ignore_conflicts=True)
    return kept


def settle_completion(completion: Completion, outcome: Outcome) -> bool:
    """Write down how the request ended and what it cost. Returns False if that has been done before."""
    usage = outcome.usage or _estimate(completion, outcome)
    prices = prices_when_opened(completion)
    settled = bool(
        Completion.objects.filter(pk=completion.pk, ended_at=None).update(
            input_tokens=usage.input_tokens,
            cached_input_tokens=min(usage.cached_input_tokens, usage.input_tokens),
            output_tokens=usage.output_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            reasoning_tokens=usage.reasoning_tokens,
            usage_estimated=usage.estimated,
            cost_usd=cost_usd(usage, prices),
            **price_columns(prices, input_tokens=usage.input_tokens),
            finish_reason=outcome.finish_reason[:50],
            error_code=outcome.error_code,
            provider_request_id=outcome.provider_request_id[:200],
            time_to_first_token_seconds=outcome.time_to_first_token_seconds,
            duration_seconds=outcome.duration_seconds,
            ended_at=Now(),
        )
    )
    if settled and not usage.estimated:
        learn(completion.language_model)
    return settled


def settle_abandoned(reply_id: int, *, text: str, error_code: str) -> None:
    """Settle what a worker that is gone has left open, by our own count."""
    for completion in Completion.objects.filter(reply_id=reply_id, ended_at=None):
        settle_completion(completion, Outcome(text=text, error_code=error_code))


def _estimate(completion: Completion, outcome: Outcome) -> Usage:
    if outcome.not_billed and not outcome.text:
        return Usage(0, 0, estimated=True)
    count = count_text(completion.window["encoding"])
    return Usage(completion.estimated_input_tokens, count(outcome.text), estimated=True)
