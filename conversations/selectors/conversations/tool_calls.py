"""The tool calls of replies, step by step, with their results.

Two statements for a whole page, and two more while calls await approval: was the same begun before in this
conversation, and what is reserved meanwhile?
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Case, F, QuerySet, TextField, When
from django.db.models.functions import Left, Length

from chatsite.postgres.compiled_queryset import compiled_queryset
from conversations.models import Message, Run, ToolCall
from conversations.models.tool_call import ENDED, ToolCallState
from conversations.selectors.figures.spending import money_limits

from .reasoning import REASONING_COLUMNS, SHOWN_REASONING, ShownReasoning, shown_reasoning

MOST_SHOWN_CHARACTERS = 10_000  # of a result; a page may hold hundreds of them

# On any branch: sending again, editing and regenerating do not undo what a tool did.
EARLIER = """
SELECT DISTINCT ON (call.id) call.id, earlier.state, earlier.started_at
FROM conversations_toolcall call
JOIN conversations_message reply ON reply.id = call.reply_id
JOIN conversations_toolcall earlier
  ON earlier.digest = call.digest AND earlier.started_at IS NOT NULL AND earlier.id <> call.id
JOIN conversations_message other ON other.id = earlier.reply_id AND other.conversation_id = reply.conversation_id
WHERE call.id = ANY(%s)
ORDER BY call.id, earlier.started_at DESC
"""
CALL_COLUMNS = (
    *("pk", "reply_id", "step", "tool", "source", "arguments", "shown_result", "result_characters", "message_id"),
    *("result_tokens", "state", "error_code", "needs_approval", "digest", "decided_at", "started_at", "ended_at"),
)


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """The last time that the same tool was run in this conversation with the same arguments."""

    state: str
    started_at: dt.datetime

    @property
    def is_certain(self) -> bool:
        """Whether it has done what it does. One that failed or was stopped in the middle may have done it, too."""
        return self.state == ToolCallState.SUCCEEDED


class CutResult(NamedTuple):
    """What the last request had room for of a result: its first *characters*, in a message of so many *tokens*."""

    characters: int
    tokens: int


class CallRow(NamedTuple):
    """A tool call: `CALL_COLUMNS`, and what is read beside them. *arguments* are as the language model wrote them.

    *result* is the beginning of what the model gets and *result_characters* the length of all of it. *result_tokens*
    are counted once the step is stored: then the result is the content of the message *message_id*. A decision about
    the call has to name *digest*. *earlier* and *reserved_usd* are there only while the call awaits approval; the
    latter is what its reply reserves meanwhile, where money is limited. *cut* is None where all of the result was sent.
    """

    pk: int
    reply_id: int
    step: int
    tool: str
    source: str
    arguments: str
    result: str
    result_characters: int
    message_id: int | None
    result_tokens: int | None
    state: str
    error_code: str
    needs_approval: bool
    digest: str
    decided_at: dt.datetime | None
    started_at: dt.datetime | None
    ended_at: dt.datetime | None
    earlier: EarlierRun | None = None
    reserved_usd: Decimal | None = None
    cut: CutResult | None = None

    @property
    def awaits_approval(self) -> bool:
        return self.state == ToolCallState.AWAITING_APPROVAL

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED

    @property
    def is_whole(self) -> bool:
        """Whether *result* is all of the result."""
        return len(self.result) == self.result_characters

    @property
    def seconds(self) -> float | None:
        """How long it ran; None if it has not been run to an end."""
        if self.started_at is None or self.ended_at is None:
            return None
        return (self.ended_at - self.started_at).total_seconds()


@dataclass(frozen=True, slots=True)
class StepCalls:
    """One step of a reply, by its *number* from 1: *text* and *reasoning* that came before the calls, and the *calls*.

    Only a step that *is_stored* is sent to the language model. The text of one that is not is the reply's own content.
    """

    number: int
    text: str
    is_stored: bool
    calls: tuple[CallRow, ...]
    reasoning: ShownReasoning | None = None

    @property
    def awaits_approval(self) -> bool:
        return any(call.awaits_approval for call in self.calls)


def calls_of_replies(reply_ids: Collection[int]) -> dict[int, list[StepCalls]]:
    """Return the steps of each reply that has called a tool, in their order."""
    asked = list(reply_ids)
    rows = [CallRow(*row) for row in _calls_of.all(asked)] if asked else []
    if not rows:
        return {}
    texts = _texts_before_calls(asked)
    steps: dict[int, list[StepCalls]] = defaultdict(list)
    for (reply_id, number), calls in groupby(_with_approval_facts(rows), key=lambda call: (call.reply_id, call.step)):
        stored = texts.get(reply_id, [])
        is_stored = number <= len(stored)
        text, reasoning = stored[number - 1] if is_stored else ("", None)
        steps[reply_id].append(StepCalls(number, text, is_stored, tuple(calls), reasoning))
    return dict(steps)


@compiled_queryset
def _calls_of(reply_ids: list[int]) -> QuerySet[ToolCall, tuple[Any, ...]]:
    """Return the calls, each with the beginning of its result: from its message, or from the call while it has none."""
    result = Case(When(message=None, then=F("result")), default=F("message__content"), output_field=TextField())
    calls = ToolCall.objects.filter(reply_id__in=reply_ids).order_by("reply_id", "step", "index")
    return calls.annotate(
        shown_result=Left(result, MOST_SHOWN_CHARACTERS),
        result_characters=Length(result),
        result_tokens=F("message__content_tokens"),
    ).values_list(*CALL_COLUMNS)


def _texts_before_calls(reply_ids: list[int]) -> Mapping[int, list[tuple[str, ShownReasoning | None]]]:
    """Return, by reply, the text and reasoning before the calls of each step that is stored."""
    texts: dict[int, list[tuple[str, ShownReasoning | None]]] = defaultdict(list)
    for reply_id, text, *reasoning in _steps_of.all(reply_ids):
        texts[reply_id].append((text, shown_reasoning(*reasoning)))
    return texts


@compiled_queryset
def _steps_of(reply_ids: list[int]) -> QuerySet[Message, tuple[Any, ...]]:
    asked = Message.objects.filter(step_of__in=reply_ids, role="assistant").order_by("step_of", "position")
    return asked.annotate(**SHOWN_REASONING).values_list("step_of", "content", "pk", *REASONING_COLUMNS)


def _with_approval_facts(calls: Collection[CallRow]) -> Iterator[CallRow]:
    """Yield all *calls*, those that await approval with what their owner has to know for it."""
    waiting = [call for call in calls if call.awaits_approval]
    earlier = earlier_runs([call.pk for call in waiting])
    reserved = reserved_by_reply({call.reply_id for call in waiting})
    for call in calls:
        if call.awaits_approval:
            yield call._replace(earlier=earlier.get(call.pk), reserved_usd=reserved.get(call.reply_id))
        else:
            yield call


def earlier_runs(call_ids: Collection[int]) -> dict[int, EarlierRun]:
    """Return, for each of the calls, the last time that the same was begun before in its conversation."""
    if not call_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(EARLIER, [list(call_ids)])
        return {pk: EarlierRun(state, started_at) for pk, state, started_at in cursor.fetchall()}


def reserved_by_reply(reply_ids: Collection[int]) -> dict[int, Decimal]:
    """Return what each reply reserves for requests that may follow, if its payer's money is limited."""
    if not reply_ids:
        return {}
    runs = Run.objects.filter(reply_id__in=reply_ids, reserved_usd__gt=0).select_related("payer")
    return {run.reply_id: run.reserved_usd for run in runs if run.reserved_usd and money_limits(run.payer)}


def whole_result(call: ToolCall) -> str:
    """Return all that is stored of the result of *call*."""
    return call.message.content if call.message else call.result
