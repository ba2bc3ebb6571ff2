"""The steps of replies as a page shows them: the words before the calls rendered, and what was cut of their results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import F, Func, JSONField, TextField, Value
from django.db.models.functions import Cast
from django.utils.safestring import SafeString

from conversations.models import Completion
from conversations.wording.error_sentences import Reader, stored_sentence

from .tool_calls import ShownCall, StepCalls, calls_of_replies

WAS_CUT = '$.entries[*] ? (@.cut_to.type() == "number")'


class CutResult(NamedTuple):
    """What the last request had room for of a result: its first *characters*, in a message of so many *tokens*."""

    characters: int
    tokens: int


@dataclass(frozen=True, slots=True)
class ThreadCall:
    """A tool call in the thread. *cut* is what the model got of its result, None is all of it.

    *error* is the sentence that says why nothing came of it.
    """

    call: ShownCall
    cut: CutResult | None
    error: str


@dataclass(frozen=True, slots=True)
class ThreadStep:
    """A step that is over: *html* is what was said before its calls."""

    number: int
    html: SafeString
    calls: tuple[ThreadCall, ...]


@dataclass(frozen=True, slots=True)
class ThreadSteps:
    """The steps of a reply that are *stored*, and the *calls* of the one that it is at, which has its own content."""

    stored: tuple[ThreadStep, ...] = ()
    calls: tuple[ThreadCall, ...] = ()

    @property
    def at(self) -> int:
        """The number of the step that the reply's own content belongs to."""
        return len(self.stored) + 1

    @property
    def asks(self) -> bool:
        return any(call.call.asks for call in self.calls)

    @property
    def messages(self) -> int:
        """How many messages they are on the path, before the reply."""
        return sum(1 + len(step.calls) for step in self.stored)


NO_STEPS = ThreadSteps()


def thread_steps(
    stored: Mapping[int, int], *, render: Callable[[int, str], SafeString], reader: Reader
) -> dict[int, ThreadSteps]:
    """Return the steps of replies that have called tools. *render* is given a reply and words of its.

    *stored* says how many steps each reply had when its content was read: one that was stored since then still has
    those words as its own.
    """
    steps = calls_of_replies(stored.keys())
    cuts = _cuts([reply for reply, number in stored.items() if number])

    def of_step(step: StepCalls) -> tuple[ThreadCall, ...]:
        return tuple(_in_thread(call, cuts, reader) for call in step.calls)

    def of_reply(reply: int, number: int) -> ThreadSteps:
        before, at = steps[reply][:number], steps[reply][number : number + 1]
        return ThreadSteps(
            stored=tuple(ThreadStep(step.number, render(reply, step.text), of_step(step)) for step in before),
            calls=tuple(call for step in at for call in of_step(step)),
        )

    return {reply: of_reply(reply, number) for reply, number in stored.items() if reply in steps}


def _in_thread(call: ShownCall, cuts: Mapping[int | None, CutResult], reader: Reader) -> ThreadCall:
    error = stored_sentence(call.error_code, {}, reader) if call.error_code else ""
    return ThreadCall(call, cuts.get(call.message_id), error)


def _cuts(reply_ids: Collection[int]) -> dict[int | None, CutResult]:
    """Return, by a result's message, how much of it went with the last request for its reply, if it was not all."""
    if not reply_ids:
        return {}
    sent = Completion.objects.filter(reply_id__in=reply_ids, window__isnull=False)
    last = sent.order_by("reply_id", "-id").distinct("reply_id")
    path = Cast(Value(WAS_CUT, output_field=TextField()), _JsonPath())
    cut = Func(F("window"), path, function="jsonb_path_query_array", output_field=JSONField())
    found = last.annotate(cut=cut).values_list("cut", flat=True)
    return {entry["message"]: CutResult(entry["cut_to"], entry["tokens"]) for entries in found for entry in entries}


class _JsonPath(TextField):
    """PostgreSQL's own type; Django has none."""

    def db_type(self, connection: object) -> str:
        return "jsonpath"
