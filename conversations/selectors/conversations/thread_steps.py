"""The steps of replies in the thread: their calls, and how much of their results the last request had room for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import F, Func, JSONField, QuerySet, TextField, Value
from django.db.models.functions import Cast

from chatsite.postgres.compiled_queryset import compiled_queryset
from conversations.models import Completion

from .tool_calls import CallRow, CutResult, StepCalls, calls_of_replies

WAS_CUT = '$.entries[*] ? (@.truncated_to.type() == "number")'


@dataclass(frozen=True, slots=True)
class ReplySteps:
    """The steps of a reply that are *stored*, and the *calls* of the current one, whose text is the reply's content."""

    stored: tuple[StepCalls, ...] = ()
    calls: tuple[CallRow, ...] = ()

    @property
    def current_number(self) -> int:
        """The number of the step that the reply's own content belongs to."""
        return len(self.stored) + 1

    @property
    def awaits_approval(self) -> bool:
        return any(call.awaits_approval for call in self.calls)

    @property
    def message_count(self) -> int:
        """How many messages the stored steps are on the path, before the reply."""
        return sum(1 + len(step.calls) for step in self.stored)


NO_STEPS = ReplySteps()


def steps_of_replies(stored: Mapping[int, int]) -> dict[int, ReplySteps]:
    """Return the steps of those replies that have called tools.

    *stored* maps each reply to how many of its steps were stored when its content was read: the text of a step that
    was stored since then is still the reply's content.
    """
    steps = calls_of_replies(stored.keys())
    cuts = _read_cuts([reply for reply, number in stored.items() if number])
    return {reply: _divide(steps[reply], number, cuts) for reply, number in stored.items() if reply in steps}


def _divide(steps: list[StepCalls], stored: int, cuts: Mapping[int | None, CutResult]) -> ReplySteps:
    """Divide the steps into those that were *stored* and the current one."""
    current = steps[stored].calls if len(steps) > stored else ()
    return ReplySteps(tuple(_with_cuts(step, cuts) for step in steps[:stored]), current)


def _with_cuts(step: StepCalls, cuts: Mapping[int | None, CutResult]) -> StepCalls:
    calls = tuple(call._replace(cut=cuts.get(call.message_id)) for call in step.calls)
    return replace(step, calls=calls)


def _read_cuts(reply_ids: Collection[int]) -> dict[int | None, CutResult]:
    """Return, by a result's message, how much of it went with the last request for its reply, if it was not all."""
    if not reply_ids:
        return {}
    found = _cuts_of.all(list(reply_ids))
    return {
        entry["message"]: CutResult(entry["truncated_to"], entry["tokens"]) for entries in found for entry in entries
    }


@compiled_queryset
def _cuts_of(reply_ids: list[int]) -> QuerySet[Completion, list[dict[str, Any]]]:
    sent = Completion.objects.filter(reply_id__in=reply_ids, window__isnull=False)
    last = sent.order_by("reply_id", "-id").distinct("reply_id")
    path = Cast(Value(WAS_CUT, output_field=TextField()), _JsonPath())
    cut = Func(F("window"), path, function="jsonb_path_query_array", output_field=JSONField())
    return last.annotate(cut=cut).values_list("cut", flat=True)


class _JsonPath(TextField):  # type: ignore[type-arg]  # at run time it takes none
    """PostgreSQL's own type; Django has none."""

    def db_type(self, connection: object) -> str:
        return "jsonpath"
