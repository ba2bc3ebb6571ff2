"""The ledger: a row is opened before each request to a provider, and settled once when the request has ended."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db import connection, transaction

from chatsite.accounts.models import User
from chatsite.postgres.linked_insert import Condition, insert_linked_rows
from conversations import metrics
from conversations.core.errors import ConversationError, PriceUnknown, ReplyInterrupted
from conversations.core.money.context_cost import cost_without_history_usd
from conversations.core.money.unit_prices import UnitPrices, cost_usd, worst_case_usd
from conversations.core.money.usage import Usage
from conversations.core.prompt.messages import digest_of, digest_of_text
from conversations.core.prompt.written_prompt import system_text
from conversations.core.window.window_record import WindowRecord
from conversations.models import Completion, Conversation, Message, Scenario
from conversations.models.completion import Purpose
from conversations.models.run import RunHolder
from conversations.providers.tokens.tokenizer import count_text, encoding_for
from conversations.selectors.figures.spending import MoneyLimits, money_limits
from conversations.services.language_models.calibration import learn, learn_accepted
from conversations.services.language_models.prices import price_columns, price_list_column, prices_when_opened

from .record_as_json import RecordAsJson, record_of
from .request_span import record_request_span
from .reservations import (
    Amount,
    LoopNotCovered,
    NotCovered,
    PartsChanged,
    WrittenText,
    move_loop_reservation,
    reserve,
    settle,
    why_not_covered,
)

CONTENT = ("messages", "input")  # of a request's body: the ledger keeps none
KEPT_ONCE = ("tools",)  # for all requests that share them
# Whether they are there already or not, `forget_sent` can't delete them until the row of the ledger is stored.
KEEP_TEXTS = """
WITH kept AS (
  SELECT digest FROM conversations_kepttext WHERE digest = ANY(%(digests)s) ORDER BY digest FOR KEY SHARE
)
INSERT INTO conversations_kepttext (digest, text)
SELECT digest, text FROM unnest(%(digests)s::text[], %(texts)s::text[]) AS sent (digest, text)
WHERE digest NOT IN (SELECT digest FROM kept) ORDER BY digest ON CONFLICT DO NOTHING
"""

# The lock keeps the run from being taken away until the row is stored: what takes it away settles the rows that it
# finds open. A run that waits has no worker.
HELD = """
SELECT FROM conversations_run WHERE reply_id = %s AND worker = %s AND attempt = %s AND state <> 'ended'
FOR NO KEY UPDATE
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a request ended, in the order in which a reader of the ledger asks.

    Without *usage* from the provider it is estimated: the prompt as counted and the *text* that came, with the thoughts
    before it, or nothing at all if the request was *not_billed*, because the provider refused it. If the
    model *called_tools*, it was a step to the reply. *response_model* is the provider's name of what answered.
    """

    text: str = ""
    usage: Usage | None = None
    not_billed: bool = False
    called_tools: bool = False
    finish_reason: str = ""
    error_code: str = ""
    provider_request_id: str = ""
    response_model: str = ""
    time_to_first_token_seconds: float | None = None
    duration_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCompletion:
    """A request that is about to leave with the JSON *body*, at the *prices* of now.

    *prompt_tokens* is our own count, *most_prompt_tokens* the most that the provider may make of it, and
    *max_output_tokens* what it is told: 0 where nothing is written, as with embeddings. *user* pays; None is
    the site. *loop_usd* is what the requests that may follow it in the loop of its reply may cost; None where there is
    no loop, or an unknown price. With *api_key_id* a program asked for it: unless there is a *conversation*, no
    text of it is kept, and *holder_process* is the process that makes it. A reply and the steps to it have a *record*
    of the window, and all that belong to a conversation name it; its scenario is theirs, unless they name one of their
    own. No two rows have the same *opening_key*. With a *holder* it may leave only while that one holds the run of the
    reply.
    """

    purpose: Purpose
    user: User | None
    language_model: str
    body: Mapping[str, Any]
    prices: UnitPrices | None
    prompt_tokens: int
    most_prompt_tokens: int
    max_output_tokens: int
    loop_usd: Decimal | None = None
    step: int = 1
    attempt: int = 1
    record: WindowRecord | None = None
    conversation: Conversation | None = None
    scenario: Scenario | None = None
    api_key_id: int | None = None
    reply: Message | None = None
    holder: RunHolder | None = None
    holder_process: str = ""
    opening_key: uuid.UUID = field(default_factory=uuid.uuid4)

    @property
    def held(self) -> Condition | None:
        """What is asked in the statement that writes its row; None where it has no *holder*."""
        if self.holder is None or self.reply is None:
            return None
        return Condition(HELD, [self.reply.pk, self.holder.worker, self.holder.attempt])

    @property
    def worst_usd(self) -> Decimal | None:
        """The most that it can cost; None where a price is unknown."""
        return worst_case_usd(self.prices, input_tokens=self.most_prompt_tokens, output_tokens=self.max_output_tokens)


def open_completion(new: NewCompletion) -> Completion:
    """Write the row of a request that is about to leave, and reserve what it may cost: both or neither.

    Raises an `AccessError` if the user's money or the site's does not cover it, or if that can't be known, and
    `LoopNotCovered` if it does not cover what may follow: then this one may be covered as an answer. Raises
    `ReplyInterrupted` if the reply's run has been taken away from its holder, who may have slept: another worker asks.
    """
    limits = money_limits(new.user)
    if limits and new.worst_usd is None:
        raise PriceUnknown
    completion = _row_of(new)
    try:
        try:
            _write_row(completion, new, limits)
        except PartsChanged:
            _write_row(completion, new, limits, in_all_parts=True)
    except NotCovered:
        if new.loop_usd:
            raise LoopNotCovered from None
        raise why_not_covered(completion, limits) from None
    if new.record:
        completion.window = RecordAsJson(new.record)  # while the answer streams
    return completion


def _write_row(completion: Completion, new: NewCompletion, limits: MoneyLimits, *, in_all_parts: bool = False) -> None:
    with transaction.atomic():
        if new.purpose != Purpose.API:
            _keep_texts(completion, new.body)
        if not insert_linked_rows(completion, only_if=new.held):
            raise ReplyInterrupted
        if completion.reserved_usd is not None:
            reserve(_amounts_of(completion, new.loop_usd), limits, in_all_parts=in_all_parts)


def _amounts_of(completion: Completion, loop_usd: Decimal | None) -> list[Amount]:
    amounts = [Amount(completion.user_id, completion.created_at, completion.reserved_usd or Decimal(0))]
    return amounts if loop_usd is None else amounts + move_loop_reservation(completion, loop_usd)


def _row_of(new: NewCompletion) -> Completion:
    return Completion(
        purpose=new.purpose,
        user=new.user,
        conversation=new.conversation,
        reply=new.reply,
        api_key_id=new.api_key_id,
        opening_key=new.opening_key,
        holder=new.holder_process,
        scenario_id=_scenario_id(new),
        step=new.step,
        attempt=new.attempt,
        language_model=new.language_model,
        window=new.record.to_json() if new.record else None,
        request={name: value for name, value in new.body.items() if name not in CONTENT + KEPT_ONCE},
        messages_digest=digest_of(_content(new.body)),
        estimated_input_tokens=new.prompt_tokens,
        reserved_usd=new.worst_usd,
        price_list=price_list_column(new.prices),
        **price_columns(new.prices, input_tokens=new.prompt_tokens),
    )


def _scenario_id(new: NewCompletion) -> int | None:
    if new.scenario:
        return new.scenario.pk
    return new.conversation.scenario_id if new.conversation else None


def _keep_texts(completion: Completion, body: Mapping[str, Any]) -> None:
    """Let *completion* name the system prompt and the tools' schemas that it is sent with, stored unless they are."""
    texts = {"system_prompt_id": system_text(_content(body)), "tool_schemas_id": _tool_schemas(body)}
    sent = {name: (digest_of_text(text), text) for name, text in texts.items() if text is not None}
    if not sent:
        return
    digests, contents = zip(*sent.values(), strict=True)
    with connection.cursor() as cursor:
        cursor.execute(KEEP_TEXTS, {"digests": list(digests), "texts": list(contents)})
    for name, (digest, _) in sent.items():
        setattr(completion, name, digest)


def _content(body: Mapping[str, Any]) -> Sequence[Any]:
    """Return the messages of a request, its items, or the texts to be embedded."""
    return next((body[name] for name in CONTENT if body.get(name)), ())


def _tool_schemas(body: Mapping[str, Any]) -> str | None:
    return json.dumps(body["tools"]) if body.get("tools") else None


def settle_completion(
    completion: Completion,
    outcome: Outcome,
    *,
    written: WrittenText | None = None,
    store: Callable[[], object] | None = None,
    end: Callable[[], bool] | None = None,
) -> bool:
    """Store how the request ended and what it cost, and release its reservation.

    Returns False, and changes nothing, if that has been done before. What it gave for its reply is stored with it, both
    or neither: the text, *written*, and what *store* stores, in the same transaction. If *store* raises a
    `ConversationError`, the request is settled without it. *end* ends the reply, with its text, and tells whether it
    could: else the text is stored as without it.
    """
    usage = outcome.usage or _estimate(completion, outcome)
    columns = _columns_of(completion, usage) | _columns_of_end(outcome)
    error = None
    try:
        settled = _settle_with(completion, columns, written, store, end)
    except ConversationError as raised:
        error, settled = raised, settle(completion.pk, columns)
    if settled:
        _count(completion, outcome, usage, columns["cost_usd"])
        if not usage.estimated:
            learn(completion.language_model)
        if outcome.finish_reason and not outcome.error_code:
            learn_accepted(completion)
    if error:
        raise error
    return settled


def _settle_with(
    completion: Completion,
    columns: Mapping[str, Any],
    written: WrittenText | None,
    store: Callable[[], object] | None,
    end: Callable[[], bool] | None,
) -> bool:
    if store is None and end is None:
        return settle(completion.pk, columns, written)
    with transaction.atomic():  # these first: the site's sums are to be locked for the shortest time
        if store:
            store()
        has_ended = end is not None and end()
        return settle(completion.pk, columns, None if has_ended else written)


def _count(completion: Completion, outcome: Outcome, usage: Usage, cost: Decimal | None) -> None:
    estimated = completion.estimated_input_tokens
    metrics.count_settled_request(
        purpose=Purpose.TOOL_STEP if outcome.called_tools else completion.purpose,
        error_code=outcome.error_code,
        input_tokens=usage.input_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        cost_usd=cost,
        reported_per_estimated=usage.input_tokens / estimated if estimated and not usage.estimated else None,
        first_token_after_seconds=outcome.time_to_first_token_seconds,
    )
    record_request_span(
        completion,
        usage,
        error_code=outcome.error_code,
        finish_reason=outcome.finish_reason,
        response_model=outcome.response_model,
        duration_seconds=outcome.duration_seconds,
    )


def _columns_of(completion: Completion, usage: Usage) -> dict[str, Any]:
    prices = prices_when_opened(completion)
    record = record_of(completion.window) if completion.window else None
    return {
        "input_tokens": usage.input_tokens,
        "cached_input_tokens": usage.cached_input_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "usage_estimated": usage.estimated,
        "cost_usd": cost_usd(usage, prices),
        "cost_without_history_usd": cost_without_history_usd(record, usage, prices),
        "reported_cost_usd": usage.reported_cost_usd,
        **price_columns(prices, input_tokens=usage.input_tokens),
    }


def _columns_of_end(outcome: Outcome) -> dict[str, Any]:
    step = {"purpose": Purpose.TOOL_STEP} if outcome.called_tools else {}
    return step | {
        "finish_reason": outcome.finish_reason[:50],
        "error_code": outcome.error_code,
        "provider_request_id": outcome.provider_request_id[:200],
        "time_to_first_token_seconds": outcome.time_to_first_token_seconds,
        "duration_seconds": outcome.duration_seconds,
    }


def settle_abandoned(reply_id: int, *, text: str, error_code: str) -> None:
    """Settle the rows that a dead worker has left open, by our own count."""
    for completion in Completion.objects.filter(reply_id=reply_id, ended_at=None):
        settle_completion(completion, Outcome(text=text, error_code=error_code))


def _estimate(completion: Completion, outcome: Outcome) -> Usage:
    if outcome.not_billed and not outcome.text:
        return Usage(0, 0, estimated=True)
    count = count_text(_encoding_of(completion))
    return Usage(completion.estimated_input_tokens, count(outcome.text), estimated=True)


def _encoding_of(completion: Completion) -> str:
    return completion.window["encoding"] if completion.window else encoding_for(completion.language_model)
