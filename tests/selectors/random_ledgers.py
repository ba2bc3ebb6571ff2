"""Random ledgers, settled by the statement that settles in the product, and their sums in plain Python."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone
from hypothesis import strategies as st

from chatsite.accounts.models import User
from conversations.models import (
    ActiveUsers,
    Completion,
    Conversation,
    ConversationsOfDay,
    ConversationSum,
    LedgerSum,
    RolledUpSum,
    RunningSum,
    Scenario,
    Spending,
)
from conversations.models.completion import Purpose
from conversations.selectors.figures.period import Period
from conversations.selectors.figures.totals import Totals
from conversations.services.ledger.close_days import close_days
from conversations.services.ledger.reservations import settle
from tests.support.people import make_user

# Clocks are changed by half an hour in Lord Howe, at midnight in Havana; others are not off by whole hours.
ZONES = ["UTC", "Asia/Kolkata", "Australia/Lord_Howe", "America/Havana", "America/St_Johns", "Pacific/Chatham"]
CHANGES = [dt.date(2026, month, day) for month, day in ((3, 8), (4, 5), (9, 27), (10, 4), (11, 1))]
DAYS = 3  # before and after such a day
MINUTES = st.integers(-DAYS * 1440, DAYS * 1440)
TOKENS = st.integers(0, 1_000_000)
COSTS = st.none() | st.decimals(0, 100, places=10)


@st.composite
def ends(draw: st.DrawFn) -> dict[str, Any]:
    """Return the columns of a completion that has ended."""
    input_tokens = draw(TOKENS)
    cached = draw(st.integers(0, input_tokens))
    error_code = draw(st.sampled_from(["", "", "", "provider_timed_out", "context_too_long"]))
    return {
        "input_tokens": input_tokens,
        "cached_input_tokens": draw(st.just(cached) | st.none()),
        "cache_write_tokens": draw(st.integers(0, input_tokens - cached) | st.none()),
        "output_tokens": draw(TOKENS),
        "reasoning_tokens": draw(TOKENS | st.none()),
        "usage_estimated": draw(st.booleans()),
        "cost_usd": draw(COSTS),
        "cost_without_history_usd": draw(COSTS),
        "error_code": error_code,
        "finish_reason": draw(st.sampled_from(["stop", "stopped", ""])),
    }


COMPLETIONS = st.fixed_dictionaries(
    {
        "user": st.sampled_from(["alice", "bob", None]),
        "in_conversation": st.booleans(),
        "scenario": st.sampled_from(["first", "second", None]),
        "language_model": st.sampled_from(["cheap", "dear"]),
        "purpose": st.sampled_from(Purpose.values),
        "step": st.integers(1, 2),
        "attempt": st.integers(1, 2),
        "estimated_input_tokens": TOKENS,
        "minutes": MINUTES,
        "end": st.none() | ends(),
    }
)
DELETIONS = st.sampled_from(["bob", "bob's conversation", "second"])
# At so many minutes days are closed, or a whole month, and what runs ends before that, but for one thing perhaps.
CLOSINGS = st.tuples(MINUTES | st.just(40 * 1440), ends(), st.booleans())
EVENTS = st.lists(COMPLETIONS | COMPLETIONS | COMPLETIONS | DELETIONS | CLOSINGS, max_size=14)
HISTORIES = st.tuples(EVENTS, st.lists(CLOSINGS, max_size=1)).map(lambda parts: [*parts[0], *parts[1]])
PERIODS = st.sampled_from([DAYS - 1, 10, 45])  # days before and after the day in the middle: with weeks, with months


@dataclass
class RandomLedger:
    """People, their conversations and scenarios: what is deleted is not in *there* any more.

    The clock never goes back behind the moment at which days were *closed*.
    """

    around: dt.date
    closed_minutes: int = -DAYS * 1440

    def __post_init__(self) -> None:
        activity = (ActiveUsers, ConversationsOfDay)
        sums = (LedgerSum, RolledUpSum, RunningSum, ConversationSum, Spending, *activity)
        for model in (Completion, *sums, Conversation, Scenario, User):
            model.objects.all().delete()
        self.there: dict[str | None, Any] = {name: Scenario.objects.create(name=name) for name in ("first", "second")}
        for name in ("alice", "bob"):
            self.there[name] = owner = make_user(name)
            self.there[f"{name}'s conversation"] = Conversation.objects.create(
                owner=owner, scenario=self.there["first"], last_active_at=timezone.now(), public_id=uuid.uuid4()
            )

    def happen(self, history: Iterable[dict[str, Any] | str | tuple[int, dict[str, Any], bool]]) -> None:
        for event in history:
            if isinstance(event, str):
                self.delete(event)
            elif isinstance(event, tuple):
                self.close(*event)
            else:
                self.complete(**event)

    def delete(self, name: str) -> None:
        if thing := self.there.pop(name, None):
            type(thing).objects.filter(pk=thing.pk).delete()
        if name == "bob":
            self.there.pop("bob's conversation", None)

    def complete(self, *, user, in_conversation, scenario, minutes, end, **columns) -> None:
        completion = Completion.objects.create(
            user=self.there.get(user),
            conversation=self.there.get(f"{user}'s conversation") if in_conversation else None,
            scenario=self.there.get(scenario),
            created_at=self.at(max(minutes, self.closed_minutes)),
            **columns,
        )
        if end:
            assert settle(completion.pk, end)

    def close(self, minutes: int, end: dict[str, Any], one_goes_on: bool) -> None:
        self.closed_minutes = max(minutes, self.closed_minutes)
        for completion in Completion.objects.filter(ended_at=None)[one_goes_on:]:
            assert settle(completion.pk, end)
        close_days(now=self.at(self.closed_minutes), at_most=60)

    def at(self, minutes: int) -> dt.datetime:
        return dt.datetime.combine(self.around, dt.time(12), dt.UTC) + dt.timedelta(minutes=minutes)


def period_around(day: dt.date, zone: str, days: int = DAYS - 1) -> Period:
    """Return days in which some of what happened is, and some is not."""
    return Period(day - dt.timedelta(days=days), day + dt.timedelta(days=days), ZoneInfo(zone))


def rows_of(period: Period) -> list[Completion]:
    """Return the settled completions of its days, each day looked up by the reader's clock."""
    rows = Completion.objects.exclude(ended_at=None).select_related("user")
    return [row for row in rows if period.first <= day_of(row, period) <= period.last]


def day_of(row: Completion, period: Period) -> dt.date:
    return row.created_at.astimezone(period.zone).date()


def add_up(rows: Iterable[Completion]) -> Totals:
    """Sum in Python what PostgreSQL sums."""
    rows = list(rows)
    compared = [row for row in rows if row.cost_without_history_usd is not None]
    reported = [row for row in rows if not row.usage_estimated]
    return Totals(
        completions=len(rows),
        replies=sum(row.purpose in ("reply", "tool_step") and row.step == row.attempt == 1 for row in rows),
        failures=sum(row.error_code != "" for row in rows),
        stopped=sum(row.finish_reason == "stopped" and not row.error_code for row in rows),
        **{
            name: sum(getattr(row, name) or 0 for row in rows)
            for name in (
                *("input_tokens", "cached_input_tokens", "cache_write_tokens"),
                *("output_tokens", "reasoning_tokens"),
            )
        },
        cost_usd=_money(row.cost_usd for row in rows),
        unknown_costs=sum(row.cost_usd is None for row in rows),
        cost_with_history_usd=_money(row.cost_usd for row in compared),
        cost_without_history_usd=_money(row.cost_without_history_usd for row in compared),
        cache_reported_input_tokens=sum(row.input_tokens for row in rows if row.cached_input_tokens is not None),
        reported_input_tokens=sum(row.input_tokens for row in reported),
        estimated_input_tokens=sum(row.estimated_input_tokens for row in reported),
        estimate_error_tokens=sum(abs(row.input_tokens - row.estimated_input_tokens) for row in reported),
        users=len({row.user_id for row in rows if row.user_id}),
    )


def _money(costs: Iterable[Decimal | None]) -> Decimal:
    return sum((cost for cost in costs if cost is not None), Decimal(0))
