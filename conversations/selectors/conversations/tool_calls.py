"""The tool calls of replies as pages show them: each step with what was said before its calls, and what came of them.

Two statements for a whole page, and a few more where a call asks: was the same begun before in this conversation, and
what is held back meanwhile?
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

from django.db import connection
from django.db.models import Case, F, TextField, When
from django.db.models.functions import Left, Length

from conversations.core.text.readable_json import readable_json
from conversations.models import Message, Run, ToolCall
from conversations.models.tool_call import ENDED, ToolCallState
from conversations.selectors.figures.spending import money_limits

MOST_SHOWN_CHARACTERS = 10_000  # of a result; a page may hold hundreds of them

# On any branch: whoever tries again, edits or regenerates has not undone what a tool did.
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


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """The last time that the same tool was run in this conversation with the same arguments."""

    state: str
    started_at: dt.datetime

    @property
    def is_certain(self) -> bool:
        """Whether it has done what it does. One that failed or was stopped in the middle may have done it, too."""
        return self.state == ToolCallState.SUCCEEDED


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call as it is shown. *arguments* are as the language model wrote them, *readable_arguments* laid out.

    *result* is what the model gets, of a long one the beginning; *result_characters* is how long it is, and
    *result_tokens* are counted once its step is stored: then it is the content of the message *message_id*. Who decides
    about the call sends *digest* along; *earlier* and *held_usd* are there only while it asks. The latter is what its
    reply keeps from other replies meanwhile, where money is limited.
    """

    pk: int
    reply_id: int
    step: int
    tool: str
    source: str
    arguments: str
    readable_arguments: str
    result: str
    result_characters: int
    message_id: int | None
    result_tokens: int | None
    state: str
    error_code: str
    asked: bool
    digest: str
    decided_at: dt.datetime | None
    started_at: dt.datetime | None
    ended_at: dt.datetime | None
    earlier: EarlierRun | None
    held_usd: Decimal | None

    @property
    def asks(self) -> bool:
        return self.state == ToolCallState.ASKS

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED

    @property
    def is_whole(self) -> bool:
        """Whether all of the result is here."""
        return len(self.result) == self.result_characters

    @property
    def seconds(self) -> float | None:
        """How long it ran; None if it has not been run to an end."""
        if self.started_at is None or self.ended_at is None:
            return None
        return (self.ended_at - self.started_at).total_seconds()


@dataclass(frozen=True, slots=True)
class StepCalls:
    """One step of a reply, by its *number* from 1: the *text* that came before the calls, and the *calls*.

    Only a step that *is_stored* is sent to the language model. The text of one that is not is the reply's own content.
    """

    number: int
    text: str
    is_stored: bool
    calls: tuple[ShownCall, ...]

    @property
    def asks(self) -> bool:
        return any(call.asks for call in self.calls)


def calls_of_replies(reply_ids: Collection[int]) -> dict[int, list[StepCalls]]:
    """Return the steps of each reply that has called a tool, in their order."""
    rows = list(_rows(reply_ids)) if reply_ids else []
    if not rows:
        return {}
    meanwhile = _meanwhile(rows)
    texts = _texts(reply_ids)
    steps: dict[int, list[StepCalls]] = defaultdict(list)
    for (reply_id, number), calls in groupby(rows, key=lambda row: (row.reply_id, row.step)):
        shown = tuple(_shown(call, meanwhile) for call in calls)
        stored = texts.get(reply_id, [])
        is_stored = number <= len(stored)
        steps[reply_id].append(StepCalls(number, stored[number - 1] if is_stored else "", is_stored, shown))
    return dict(steps)


def earlier_runs(calls: Iterable[ToolCall]) -> dict[int, EarlierRun]:
    """Return, for each of *calls* that asks, the last time that the same was begun before in its conversation."""
    asking = [call.pk for call in calls if call.state == ToolCallState.ASKS]
    if not asking:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(EARLIER, [asking])
        return {pk: EarlierRun(state, started_at) for pk, state, started_at in cursor.fetchall()}


class _Meanwhile(NamedTuple):
    """What is to be known while calls ask: by call, and by reply."""

    earlier: Mapping[int, EarlierRun]
    held_usd: Mapping[int, Decimal]


def _meanwhile(calls: Collection[ToolCall]) -> _Meanwhile:
    asking = {call.reply_id for call in calls if call.state == ToolCallState.ASKS}
    return _Meanwhile(earlier_runs(calls), held_by(asking) if asking else {})


def held_by(reply_ids: Collection[int]) -> dict[int, Decimal]:
    """Return what each reply holds back for requests that may follow, if it is somebody's whose money is limited."""
    runs = Run.objects.filter(reply_id__in=reply_ids, reserved_usd__gt=0).select_related("payer")
    return {run.reply_id: run.reserved_usd for run in runs if run.reserved_usd and money_limits(run.payer)}


def whole_result(call: ToolCall) -> str:
    """Return all that is stored of what came of *call*."""
    return call.message.content if call.message else call.result


def _rows(reply_ids: Collection[int]) -> Iterable[ToolCall]:
    """Read the calls, each with the beginning of its result, wherever that is kept."""
    in_message = Case(When(message=None, then=F("result")), default=F("message__content"), output_field=TextField())
    rows = ToolCall.objects.filter(reply_id__in=reply_ids).order_by("reply_id", "step", "index").defer("result")
    return rows.annotate(
        shown_result=Left(in_message, MOST_SHOWN_CHARACTERS),
        result_characters=Length(in_message),
        result_tokens=F("message__content_tokens"),
    )


def _texts(reply_ids: Collection[int]) -> Mapping[int, list[str]]:
    """Return, by reply, what was said before the calls of each step that is stored."""
    texts: dict[int, list[str]] = defaultdict(list)
    asked = Message.objects.filter(step_of__in=reply_ids, role="assistant").order_by("step_of", "position")
    for reply_id, text in asked.values_list("step_of", "content"):
        texts[reply_id].append(text)
    return texts


def _shown(call: ToolCall, meanwhile: _Meanwhile) -> ShownCall:
    read = vars(call)  # what was annotated is no field of the model
    return ShownCall(
        pk=call.pk,
        reply_id=call.reply_id,
        step=call.step,
        tool=call.tool,
        source=call.source,
        arguments=call.arguments,
        readable_arguments=_readable_arguments(call),
        result=read["shown_result"],
        result_characters=read["result_characters"],
        message_id=call.message_id,
        result_tokens=read["result_tokens"],
        state=call.state,
        error_code=call.error_code,
        asked=call.asked,
        digest=call.digest,
        decided_at=call.decided_at,
        started_at=call.started_at,
        ended_at=call.ended_at,
        earlier=meanwhile.earlier.get(call.pk),
        held_usd=meanwhile.held_usd.get(call.reply_id) if call.state == ToolCallState.ASKS else None,
    )


def _readable_arguments(call: ToolCall) -> str:
    """Return the arguments laid out; very long ones only for somebody who has to decide, as it takes its time."""
    is_long = len(call.arguments) > MOST_SHOWN_CHARACTERS
    return call.arguments if is_long and call.state != ToolCallState.ASKS else readable_json(call.arguments)
