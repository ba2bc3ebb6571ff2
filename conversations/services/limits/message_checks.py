"""Checks of limits, rate, length, window and money before a message is stored or a reply made again, in this order:

    1. allowed            no limit of the user's is 0                                       MessagesForbidden
    2. rate               replies asked for within a minute                                 MessageRateReached
    3. replies at once    those being made, and twice as many with those awaiting approval  TooManyRepliesAtOnce, …
    4. length             tokens of the message                                             MessageTooLong
    5. window             what must be sent fits the language model, pictures too           PromptError, PolicyFailed
    6. money              the allowances cover the most that the first request may cost     MoneyUsedUp, …
                          and so does the money of the API key that asks                    ApiKeyMoneyUsedUp

The limits of 1 to 4 are `EffectiveLimits` (`chatsite.accounts.limits`), the allowances of 6 `Allowance`
(`conversations.core.money.allowance`). What must be sent stands at the top of `core.window.compute_window`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db.models import CharField, DateTimeField, QuerySet, Value
from django.utils import timezone

from chatsite.accounts.limits import EffectiveLimits, effective_limits
from chatsite.accounts.models import User
from chatsite.postgres.compiled_queryset import compiled_queryset
from conversations.core.errors import (
    MessageRateReached,
    MessagesForbidden,
    MessageTooLong,
    TooManyAwaitingApproval,
    TooManyRepliesAtOnce,
)
from conversations.core.errors.access import wait_seconds
from conversations.core.money.allowance import Allowance, allowance_error
from conversations.core.money.unit_prices import worst_case_usd
from conversations.core.window.history import HistoryMessage
from conversations.core.window.policies import WindowPolicy
from conversations.core.window.window_record import WindowRecord
from conversations.models import ApiKey, Completion, Conversation, Message, Run
from conversations.models.completion import Purpose
from conversations.selectors.conversations.documents import count_documents_for
from conversations.selectors.conversations.pictures import SentPicture
from conversations.selectors.conversations.web_search import searches_web
from conversations.selectors.figures.spending import allowances, key_allowances, money_limits
from conversations.services.language_models.effective_policy import conversation_policy
from conversations.services.language_models.model_context import conversation_context
from conversations.services.ledger.reservations import requests_after, worst_loop_usd
from conversations.services.windows.build_window import (
    build_window,
    check_it_fits,
    draft_message,
    newest_with_pictures,
    stored_message,
)

MINUTE = dt.timedelta(minutes=1)
# What stands in the row of a request of a program, where that of a reply says more.
NOT_ASKED_BEFORE = Value([], ArrayField(DateTimeField()))
RUNNING = Value("running", CharField())
AskedFor = tuple[dt.datetime, list[dt.datetime]]  # when last, and when before


def check_message(
    user: User,
    conversation: Conversation,
    content: str,
    *,
    pictures: Sequence[SentPicture] = (),
    key: ApiKey | None = None,
) -> HistoryMessage:
    """Return *content* as the newest message, counted with its *pictures*. Raises the error of the first failed check.

    User and conversation have to be locked, and *key*, where a program asks.
    """
    limits = effective_limits(user)
    check_one_more_reply(user, limits)
    context, head = conversation_context(conversation), conversation.head
    draft = draft_message(content, position=head.position + 1 if head else 0, context=context)
    check_message_length(draft.content_tokens, limits)
    draft = newest_with_pictures(draft, pictures, conversation=conversation)
    check_it_fits(conversation, draft)
    check_money(user, limits, conversation, draft, key=key)
    return draft


def check_regeneration(
    user: User,
    conversation: Conversation,
    question: Message,
    *,
    reply_reserve_tokens: int | None = None,
    text_so_far: HistoryMessage | None = None,
    key: ApiKey | None = None,
) -> None:
    """Check the same for another reply to *question*, which is stored: but for its length, which was accepted.

    *reply_reserve_tokens* is the room of that reply, where it is not the scenario's. *text_so_far* is the reply with
    what it says already, where it is continued.
    """
    limits = effective_limits(user)
    check_one_more_reply(user, limits)
    newest = stored_message(question, conversation_context(conversation), conversation=conversation)
    policy = conversation_policy(conversation, reply_reserve_tokens=reply_reserve_tokens)
    check_it_fits(conversation, newest, policy=policy, text_so_far=text_so_far)
    check_money(user, limits, conversation, newest, policy=policy, text_so_far=text_so_far, key=key)


def check_one_more_reply(user: User, limits: EffectiveLimits) -> None:
    """Make checks 1 to 3: whether the user may ask for one more reply now."""
    check_messages_are_allowed(limits)
    check_message_rate(user, limit=limits.messages_per_minute)
    check_unfinished_replies(user, limit=limits.replies_at_once)


def check_messages_are_allowed(limits: EffectiveLimits) -> None:
    """Raise `MessagesForbidden` where no waiting and no shortening helps."""
    if 0 in (limits.messages_per_minute, limits.replies_at_once, limits.message_tokens):
        raise MessagesForbidden


def check_message_rate(user: User, *, limit: int | None) -> None:
    """Refuse more than *limit* replies asked for in a minute, by the user or by programs with their keys."""
    if limit is None:
        return
    asked_for = _asked_for.all(user.pk, timezone.now() - MINUTE, limit=limit)
    times = sorted((moment for created_at, before in asked_for for moment in (created_at, *before)), reverse=True)
    if len(times) >= limit and (oldest := times[limit - 1]) > timezone.now() - MINUTE:
        raise MessageRateReached(seconds=wait_seconds(timezone.now(), oldest + MINUTE))


@compiled_queryset
def _asked_for(owner_id: int, since: dt.datetime, *, limit: int) -> QuerySet[Any, AskedFor]:
    """When each of a user's newest *limit* replies was asked for, and when before, and each request of a program."""
    asked = Run.objects.filter(reply__conversation__owner_id=owner_id, created_at__gt=since)
    of_replies = asked.order_by("-created_at").values_list("created_at", "asked_before")[:limit]
    by_programs = requests_of_programs(owner_id).filter(created_at__gt=since, attempt=1)
    of_programs = by_programs.order_by("-created_at").values_list("created_at", NOT_ASKED_BEFORE)[:limit]
    return of_replies.union(of_programs, all=True)


def check_unfinished_replies(user: User, *, limit: int | None) -> None:
    """Refuse more than *limit* that are being made, or twice as many with those that await approval.

    These are made by no worker meanwhile, but money is reserved for each.
    """
    if limit is None:
        return
    states = _states_of_unfinished_replies(user)
    _check_that_fewer_are_made(states, limit)
    if len(states) >= limit * 2:
        raise TooManyAwaitingApproval


def check_replies_at_once(user: User, *, limit: int | None) -> None:
    """Refuse more than *limit* that are being made. A reply that awaits approval does not count."""
    if limit is not None:
        _check_that_fewer_are_made(_states_of_unfinished_replies(user), limit)


def _states_of_unfinished_replies(user: User) -> list[str]:
    """Return the state of the run of each reply of the user's that has not ended, and one for each API request.

    What a dead process left open of these is settled later; no request takes as long.
    """
    longest = dt.timedelta(seconds=settings.REPLY_TIMEOUT_SECONDS)
    return [state for (state,) in _unfinished_of.all(user.pk, timezone.now() - longest)]


@compiled_queryset
def _unfinished_of(owner_id: int, since: dt.datetime) -> QuerySet[Any, tuple[str]]:
    streaming = Message.objects.filter(state="streaming", conversation__owner_id=owner_id)
    by_programs = requests_of_programs(owner_id).filter(ended_at=None, created_at__gt=since)
    return streaming.values_list("run__state").union(by_programs.values_list(RUNNING), all=True)


def requests_of_programs(user_id: int) -> QuerySet[Completion]:
    """Return the rows of the ledger that programs asked for with the user's keys, outside of conversations."""
    return Completion.objects.filter(user_id=user_id, purpose=Purpose.API)


def _check_that_fewer_are_made(states: list[str], limit: int) -> None:
    if len(states) - states.count("awaiting_approval") >= limit:
        raise TooManyRepliesAtOnce


def check_message_length(content_tokens: int, limits: EffectiveLimits) -> None:
    """Raise `MessageTooLong` for a message above the user's own limit, whatever the language model takes."""
    if limits.message_tokens is not None and content_tokens > limits.message_tokens:
        raise MessageTooLong(tokens_over=content_tokens - limits.message_tokens)


def check_money(
    user: User,
    limits: EffectiveLimits,
    conversation: Conversation,
    newest: HistoryMessage,
    *,
    policy: WindowPolicy | None = None,
    text_so_far: HistoryMessage | None = None,
    key: ApiKey | None = None,
) -> None:
    """Raise the error that asking for a reply to *newest* would end with.

    Only a look, so that no message is stored in vain: what counts is what `open_completion` reserves. The window is
    chosen for it, but only where money is limited.
    """
    found = user_allowances(user, limits) + (key_allowances(key, at=timezone.now()) if key else [])
    if found:
        record = build_window(conversation, newest, policy=policy, text_so_far=text_so_far).record
        is_looked_up = bool(count_documents_for(conversation)) or searches_web(conversation)
        worst = worst_reply_cost(record, conversation, is_looked_up=is_looked_up)
        if error := allowance_error(found, worst.request_usd):
            raise error


def user_allowances(user: User, limits: EffectiveLimits) -> list[Allowance]:
    """Return what is left for *user* at this moment, of the site's money too; nothing where nothing is limited."""
    return allowances(user, money_limits(user, limits), at=timezone.now())


def worst_reply_cost(record: WindowRecord, conversation: Conversation, *, is_looked_up: bool) -> WorstReplyCost:
    """Return the most that a reply with that window can cost.

    *is_looked_up* says that grounding is retrieved for the message before it is sent, and will be sent with it. What
    may be recalled for it is counted too.
    """
    context = conversation_context(conversation)
    prices = context.unit_prices(at=timezone.now())
    request_usd = worst_case_usd(
        prices,
        input_tokens=record.most_prompt_tokens_once_looked_up(with_grounding=is_looked_up),
        output_tokens=record.reply_reserve_tokens,
    )
    if not record.tool_schema_tokens:
        return WorstReplyCost(request_usd)
    loop_usd = worst_loop_usd(
        conversation.scenario,
        prices,
        requests=requests_after(1),
        reply_reserve_tokens=record.reply_reserve_tokens,
        context=context,
    )
    return WorstReplyCost(request_usd, loop_usd)


@dataclass(frozen=True, slots=True)
class WorstReplyCost:
    """The most that a reply can cost: its first request, and those that may follow if it has tools to call.

    *request_usd* is None where a price is unknown.
    """

    request_usd: Decimal | None
    loop_usd: Decimal | None = None

    def within(self, found: Collection[Allowance]) -> Decimal | None:
        """Return the most that it may cost: where the whole is not covered, it is made without tools."""
        if self.request_usd is None or self.loop_usd is None:
            return self.request_usd
        whole_usd = self.request_usd + self.loop_usd
        return self.request_usd if allowance_error(found, whole_usd) else whole_usd
