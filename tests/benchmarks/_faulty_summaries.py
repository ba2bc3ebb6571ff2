"""A conversation whose summaries are written by a model that fails in every way. Import it when Django is set up.

Each slide of its window is one fault's. What is asked of the provider goes to the fake one, over loopback.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple
from unittest import mock

from django.db.models import F, Sum

from chatsite.accounts.models import Limits
from conversations.models import Completion, Conversation, Spending, SummaryState
from conversations.models.completion import Purpose
from conversations.providers.clients.completions import CompletionClient
from conversations.selectors.conversations.summary import valid_summaries
from conversations.services.message_index.index_messages import index_conversation
from conversations.services.summaries import store_summary
from conversations.services.summaries.claim_summary import MOST_ATTEMPTS, claim_summary
from conversations.services.summaries.write_next_summary import write_next_summary
from tests.benchmarks._figures import Figures, percentile
from tests.support.message_index import recounted, stored
from tests.support.patience import PATIENCE_SECONDS
from tests.support.summaries import begin_summarised, configure, say, state_of
from tests.support.upstream import Upstream
from tests.support.waiting import in_thread, wait_until

GOOD = "numbered-20"
HELD = "numbered-held-20"
PIECES = 21
CONTEXT_TOKENS = 8_192  # of every writer, by `configure`
MOST_DOLLARS_A_TOKEN = Decimal("0.000002")
LONG_AGO = "2026-01-01T00:00:00Z"


class Fault(NamedTuple):
    """What goes wrong, with which *model*, and after how many attempts at most it is left at that.

    The summary's state has *error_code* then; None is that of an attempt before, or one that the money tells.
    """

    name: str
    model: str
    error_code: str | None = None
    most_attempts: int = MOST_ATTEMPTS

    @property
    def writes(self) -> bool:
        return self.name in ("none", "slow")


FAULTS = (
    Fault("none", GOOD, "", 1),
    Fault("fails", "status-500", "provider_unavailable"),
    Fault("answers nothing", "role-only", "written_summary_empty"),
    Fault("answers 100,000 tokens", "tokens-100000", "written_summary_too_long"),
    Fault("wrong language", "chinese", "written_summary_foreign"),
    Fault("slow", HELD, "", 1),
    Fault("slow, and above the time limit", "endless-5", "provider_timed_out"),
    Fault("connection cut", "cut-after-5", "stream_broken"),
    Fault("ends early", "eof-after-5", "stream_broken"),
    Fault("answer cut off", "length", "written_summary_cut_off"),
    Fault("stopped in the middle", HELD, most_attempts=1),
    Fault("its process dies", GOOD, most_attempts=1),
    Fault("money used up", GOOD, most_attempts=1),
)


@dataclass(slots=True)
class FaultySummaries:
    """One conversation that goes on, the *settings* of its site, and what it came to."""

    settings: Any
    upstream: Upstream
    conversation: Conversation
    client: CompletionClient
    number: int = 0
    begins_at: int = 0
    last: tuple[Any, ...] = ()
    counts: Counter[str] = field(default_factory=Counter)
    by_fault: dict[str, Counter[str]] = field(default_factory=dict)
    seconds_at_rest: list[float] = field(default_factory=list)
    seconds_meanwhile: list[float] = field(default_factory=list)

    async def play(self, slides: int) -> Figures:
        """Let the window slide so often, and return the figures."""
        for fault in itertools.cycle(FAULTS):
            if self.counts["slides"] >= slides:
                break
            self._configure(fault)
            await self._talk_until_it_slides(self.seconds_at_rest)
            await self._be_written(fault)
        return await in_thread(self._figures)

    def _configure(self, fault: Fault) -> None:
        self.upstream.reset()
        others = {each.model for each in FAULTS} - {fault.model}
        configure(self.settings, self.upstream, fault.model, *others)
        self.settings.SUMMARY_SECONDS = 0.05 if fault.model.startswith("endless") else 600

    async def _talk_until_it_slides(self, seconds: list[float]) -> None:
        before = self.begins_at
        while self.begins_at == before:
            began = time.perf_counter()
            prepared = await in_thread(say, self.conversation, self.number)
            seconds.append(time.perf_counter() - began)
            prompt, self.begins_at = prepared.window.prompt[:-1], prepared.window.record.first_position
            self.counts["prefix_changes"] += prompt[: len(self.last)] != self.last
            self.last, self.number = prompt, self.number + 1
        self.counts["slides"] += 1

    async def _be_written(self, fault: Fault) -> None:
        """Let the summary be written, or not; note whether the versions before are what they were."""
        before = await in_thread(versions, self.conversation)
        attempts = await self._attempt(fault)
        after = await in_thread(versions, self.conversation)
        state = await in_thread(state_of, self.conversation)
        seen = self.by_fault.setdefault(fault.name, Counter())
        seen["slides"] += 1
        seen["attempts"] += attempts
        seen["new_version"] += after[:1] != before[:1]
        seen["previous_kept"] += (
            after[1:] == before[: store_summary.MOST_VERSIONS - 1] if fault.writes else after == before
        )
        seen["too_many_attempts"] += attempts > fault.most_attempts
        seen["told_otherwise"] += fault.error_code not in (None, state.error_code)

    async def _attempt(self, fault: Fault) -> int:
        """Return how many attempts there were."""
        match fault.name:
            case "slow":
                return await self._write_slowly()
            case "stopped in the middle":
                return await self._stop()
            case "its process dies":
                return await in_thread(die)
            case "money used up":
                with_money = await in_thread(take_money, self.conversation)
                attempts = await self._write()
                await in_thread(with_money.delete)
                return attempts
        return await self._write()

    async def _write(self) -> int:
        attempts = 0
        while await write_next_summary("benchmark", self.client):
            attempts += 1
        return attempts

    async def _write_slowly(self) -> int:
        """Hold the end of the answer back while people ask on until the window slides again."""
        writing = await self._begin_to_write()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._talk_until_it_slides(self.seconds_meanwhile)
        except TimeoutError:
            self.counts["delayed"] += 1
        self.counts["delayed"] += writing.done()  # then it was not held, and shows nothing
        self.upstream.release()
        await writing
        return 1

    async def _stop(self) -> int:
        writing = await self._begin_to_write()
        writing.cancel()
        with suppress(asyncio.CancelledError):
            await writing
        return 1

    async def _begin_to_write(self) -> asyncio.Task[bool]:
        """Return the writing of a summary of which all but the end has come."""
        self.upstream.reset()
        writing = asyncio.create_task(write_next_summary("benchmark", self.client))
        await wait_until(lambda: any(len(request["emitted"]) == PIECES for request in self.upstream.log()))
        return writing

    def _figures(self) -> Figures:
        rows = Completion.objects.filter(purpose=Purpose.SUMMARY)
        money = rows.aggregate(spent=Sum("cost_usd"), reserved=Sum("reserved_usd"))
        reserved = Spending.objects.values("user", "period", "begins_on").annotate(sum=Sum("reserved_usd"))
        return {
            "slides": self.counts["slides"],
            "messages": self.conversation.messages.count(),
            "messages_lost_to_the_index": messages_lost(self.conversation),
            "requests": len(self.seconds_at_rest) + len(self.seconds_meanwhile),
            "requests_while_a_summary_was_held": len(self.seconds_meanwhile),
            "requests_delayed": self.counts["delayed"],
            "request_ms": {
                "at_rest": milliseconds(self.seconds_at_rest),
                "while_a_summary_was_held": milliseconds(self.seconds_meanwhile),
            },
            "prefix_changes": self.counts["prefix_changes"],
            "summary_requests": rows.count(),
            "spent_usd": float(money["spent"] or 0),
            "reserved_usd": float(money["reserved"] or 0),
            "most_usd": float(self.counts["slides"] * MOST_ATTEMPTS * CONTEXT_TOKENS * MOST_DOLLARS_A_TOKEN),
            "requests_above_their_reservation": rows.filter(cost_usd__gt=F("reserved_usd")).count(),
            "requests_never_settled": rows.filter(ended_at=None).count(),
            "reservations_left": reserved.exclude(sum=0).count(),
            "versions_written": sum(seen["new_version"] for seen in self.by_fault.values()),
            "versions_stored": self.conversation.summaries.count(),
            "by_fault": {name: dict(seen) for name, seen in self.by_fault.items()},
        }


def versions(conversation: Conversation) -> list[tuple[int, str]]:
    """Return number and text of all versions that hold, newest first."""
    return list(valid_summaries(conversation.pk).values_list("number", "text"))


def die() -> int:
    """Take the summary as a process does that never comes back, and let its lease end."""
    found, _ = claim_summary("dead")
    SummaryState.objects.update(lease_until=LONG_AGO)
    return int(found)


def take_money(conversation: Conversation) -> Limits:
    return Limits.objects.create(user=conversation.owner, money_per_day_usd=0)


def messages_lost(conversation: Conversation) -> int:
    """Return how many messages the index does not hold as their recount says, once it has caught up."""
    index_conversation(conversation.pk)
    (expected, postings), (found, found_postings) = recounted(conversation), stored(conversation)
    lost = {passage[0] for passage in set(expected) ^ set(found)}
    return len(lost) or int(postings != found_postings)


def milliseconds(seconds: list[float]) -> dict[str, float]:
    return {f"p{share}": round(percentile(seconds, share / 100) * 1e3, 1) for share in (50, 95)} if seconds else {}


def measure_faults(settings: Any, upstream: Upstream, *, slides: int) -> Figures:
    """Return the figures of so many *slides*, or of a few more, with *settings* of an empty site."""
    settings.MESSAGES_PER_MINUTE = settings.REPLIES_PER_USER = 0
    configure(settings, upstream, *(fault.model for fault in FAULTS))
    with mock.patch.object(store_summary, "PAUSES_SECONDS", (0.0, 0.0)):
        return asyncio.run(_measure(settings, upstream, slides))


async def _measure(settings: Any, upstream: Upstream, slides: int) -> Figures:
    client = CompletionClient(settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY)
    try:
        conversation = await in_thread(begin_summarised)
        return await FaultySummaries(settings, upstream, conversation, client).play(slides)
    finally:
        await client.aclose()
