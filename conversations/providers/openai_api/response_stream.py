"""A response's stream: the events of the Responses API to the same deltas as those of Chat Completions.

    response.created · response.output_item.added · response.output_text.delta · response.refusal.delta
    response.reasoning_summary_text.delta · response.reasoning_text.delta (or response.reasoning.delta)
    response.function_call_arguments.delta · response.output_item.done
    response.completed, .incomplete, .failed · error

What is not known is passed over. Servers differ. Some send a message, a summary or the arguments of a call only when it
is done, or with the whole response; some leave `<think>` in the text. Some change the ids of items on the way, so items
are told apart by their output_index. Some end without `response.completed`, which is a stream that broke. Some send an
event twice, others give all events the same sequence_number. Reasoning items are kept as they are when they are done:
only then is their encrypted content final. Read 2026-11-22 from the types of openai 3.52 and from Open Responses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from conversations.core.errors import MalformedStream
from conversations.core.money.usage import Usage
from conversations.core.text.storable_text import UNSTORABLE, StorablePieces

from .completion_stream import (
    MOST_CALLS,
    CompletionEnd,
    Delta,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    arguments_text,
    split_deltas,
)
from .provider_errors import Refusal, refusal_error
from .reasoning_fields import MOST_KEPT_CHARACTERS, count_characters
from .reported_usage import leave_out_uncounted, parse_usage
from .think_tags import ThinkTags, ThinkTagsUse

_REASONING: Final = frozenset(
    {"response.reasoning_summary_text.delta", "response.reasoning_text.delta", "response.reasoning.delta"}
)
_TEXT: Final = frozenset({"response.output_text.delta", "response.refusal.delta"})
_END: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
_FIELDS: Final = {"message": "content", "reasoning": "summary"}  # where an item has its text, by its kind
_MOST_TEXTS: Final = 100  # of a response; with more the output_index says nothing, and a whole text is one of them
_MOST_NUMBERS: Final = 1_000  # an event that is sent twice comes soon after itself
# Why a response is incomplete, as Chat Completions name it.
_FINISH_REASONS: Final = {"max_output_tokens": "length", "max_tokens": "length", "content_filter": "content_filter"}


@dataclass(slots=True)
class _Call:
    """A call as far as it has been passed on: its *place* among the calls, its id and name, and its arguments."""

    place: int
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)


class ResponseReader:
    """Reads one response's events in their order and collects what its `CompletionEnd` says."""

    def __init__(self, *, think_tags: ThinkTagsUse = "yes") -> None:
        self.has_begun = False
        self.finish_reason: str | None = None
        self._usage: Usage | None = None
        self._has_text = False
        self._id = ""
        self._language_model = ""
        self._numbers = _EventNumbers()
        self._pieces = StorablePieces()
        self._thoughts = StorablePieces()
        self._calls: dict[int, _Call] = {}  # by output_index, in the order in which they came
        self._reasoning: dict[int, dict[str, Any]] = {}  # by output_index
        self._kept_characters = 0
        self._summary_part: tuple[object, object] | None = None
        self._told = {"content": _ToldTexts(), "summary": _ToldTexts()}  # by the field of an item
        self._tags = ThinkTags(think_tags)

    def read(self, event: object) -> Iterator[Delta]:
        """Yield what *event* adds to the reply. Raises `MalformedStream` where it is no event at all."""
        self.has_begun = True
        try:
            yield from self._note_text(self._read(event))  # type: ignore[arg-type]
        except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError) as exc:
            raise MalformedStream(detail=f"not an event of a response: {type(exc).__name__}") from exc

    def finish(self) -> Iterator[Delta]:
        """Yield what was held back until the text is over."""
        return self._note_text(split_deltas(self._tags.end()))

    def end(self, *, request_id: str = "") -> CompletionEnd:
        """Return the end as far as the events say it; *request_id* is the one in the response's headers."""
        items = [
            self._reasoning[index] if index in self._reasoning else {"call": self._calls[index].place}
            for index in sorted({*self._reasoning, *self._calls})
        ]
        kept: dict[str, Any] = {"items": items} if self._reasoning else {}
        if self._kept_characters > MOST_KEPT_CHARACTERS:
            kept = {"too_long": {"items": self._kept_characters}}
        usage = leave_out_uncounted(self._usage, has_text=self._has_text)
        return CompletionEnd(self.finish_reason, usage, request_id or self._id, self._language_model, kept)

    def _note_text(self, deltas: Iterator[Delta]) -> Iterator[Delta]:
        for delta in deltas:
            self._has_text = self._has_text or isinstance(delta, TextDelta)
            yield delta

    def _read(self, event: Mapping[str, Any]) -> Iterator[Delta]:
        kind = event["type"]
        if self._numbers.is_repeated(event):
            return
        if kind in _TEXT:
            self._told["content"].add_piece(event.get("output_index"), event["delta"])
            yield from self._read_text(event["delta"])
        elif kind in _REASONING:
            self._told["summary"].add_piece(event.get("output_index"), event["delta"])
            yield from self._read_reasoning(event)
        elif kind == "response.output_item.added":
            yield from self._begin_item(_index_of(event), event["item"])
        elif kind == "response.function_call_arguments.delta":
            yield from self._pass_call_on(_index_of(event), {}, arguments_text(event["delta"]))
        elif kind == "response.function_call_arguments.done":
            yield from self._complete_call(_index_of(event), {}, event.get("arguments"))
        elif kind == "response.output_item.done":
            yield from self._end_item(_index_of(event), event["item"])
        elif kind in _END:
            yield from self._end_response(event["response"])
        elif kind == "error":
            raise refusal_error(Refusal(str(event.get("message") or "error in the stream"), body=event))
        elif kind in ("response.created", "response.in_progress"):
            self._note_response(event["response"])

    def _read_text(self, piece: str) -> Iterator[Delta]:
        if text := self._pieces.take(piece):
            yield from (TextDelta(text),) if self._tags.pass_as_text(text) else split_deltas(self._tags.feed(text))

    def _read_reasoning(self, event: Mapping[str, Any]) -> Iterator[Delta]:
        text = self._thoughts.take(event["delta"])
        part = (event.get("output_index"), event.get("summary_index"))
        is_next, self._summary_part = self._summary_part not in (None, part), part
        if text:
            self._tags.expect_none()
            yield ReasoningDelta(f"\n\n{text}" if is_next else text)

    def _begin_item(self, index: int, item: Mapping[str, Any]) -> Iterator[Delta]:
        if item.get("type") == "function_call":
            is_new = index not in self._calls
            yield from self._pass_call_on(index, item, arguments_text(item.get("arguments")) if is_new else "")

    def _end_item(self, index: int, item: Mapping[str, Any]) -> Iterator[Delta]:
        kind = item.get("type")
        if kind == "reasoning":
            self._keep(index, item)
            if not self._told["summary"].take_done(index, _text_of(item, "summary")):
                yield from self._read_whole_item(index, item, "summary")
        elif kind == "message":
            if not self._told["content"].take_done(index, _text_of(item, "content")):
                yield from self._read_whole_item(index, item, "content")
        elif kind == "function_call":
            yield from self._complete_call(index, item, item.get("arguments"))

    def _keep(self, index: int, item: Mapping[str, Any]) -> None:
        """Keep a reasoning item, as long as all of them together can be sent back."""
        self._kept_characters += count_characters(item)
        if self._kept_characters <= MOST_KEPT_CHARACTERS:
            self._reasoning[index] = _sendable(item)

    def _read_whole_item(self, index: int, item: Mapping[str, Any], field: str) -> Iterator[Delta]:
        """Yield the text of an item part by part."""
        for place, text in enumerate(_parts_of(item, field)):
            if field == "content":
                yield from self._read_text(text)
            else:
                yield from self._read_reasoning({"delta": text, "output_index": index, "summary_index": place})

    def _pass_call_on(
        self, index: int, item: Mapping[str, Any], arguments: str, *, replaces: bool = False
    ) -> Iterator[ToolCallDelta]:
        """Yield what is new of a call: its id and name come once, whichever event has them first."""
        call = self._calls.get(index)
        is_new = call is None
        if call is None:
            if len(self._calls) == MOST_CALLS:
                return
            call = self._calls[index] = _Call(len(self._calls))
        call_id = "" if call.id else _word(item.get("call_id"))
        name = "" if call.name else _word(item.get("name"))
        call.id, call.name = call.id or call_id, call.name or name
        if replaces:
            call.pieces.clear()
        if arguments:
            call.pieces.append(arguments)
        if is_new or call_id or name or arguments:
            yield ToolCallDelta(call.place, call_id, name, arguments, replaces=replaces)

    def _complete_call(self, index: int, item: Mapping[str, Any], arguments: object) -> Iterator[ToolCallDelta]:
        """Yield what a call that is done adds to its pieces: its whole arguments, where these are others."""
        yield from self._pass_call_on(index, item, "")
        if (call := self._calls.get(index)) and (whole := arguments_text(arguments)):
            call.pieces = ["".join(call.pieces)]  # joined once, however often it is said to be done
            if whole != call.pieces[0]:
                yield from self._pass_call_on(index, item, whole, replaces=bool(call.pieces[0]))

    def _end_response(self, response: Mapping[str, Any]) -> Iterator[Delta]:
        self._note_response(response)
        yield from self._read_output(_mappings_in(response.get("output")))
        if usage := response.get("usage"):
            self._usage = _parse_usage(usage)
        status = response.get("status")
        if status == "failed" or response.get("error"):
            error = response.get("error") or {}
            raise refusal_error(Refusal(str(error.get("message") or "the response failed"), body=error))
        if status == "incomplete":
            reason = (response.get("incomplete_details") or {}).get("reason")
            self.finish_reason = _FINISH_REASONS.get(reason or "", _word(reason) or "incomplete")
        else:
            self.finish_reason = "tool_calls" if self._calls else "stop"

    def _read_output(self, output: Sequence[Mapping[str, Any]]) -> Iterator[Delta]:
        """Yield what the whole response has and no event had: of each kind of items those that did not come."""
        untold = {place: field for kind, field in _FIELDS.items() for place in self._find_untold(output, kind, field)}
        has_kept, known_ids = bool(self._reasoning), {call.id for call in self._calls.values()}
        has_more_calls = sum(item.get("type") == "function_call" for item in output) > len(self._calls)
        for place, item in enumerate(output):
            kind = item.get("type")
            if kind == "reasoning" and not has_kept:
                self._keep(place, item)
            if field := untold.get(place):
                yield from self._read_whole_item(place, item, field)
            elif kind == "function_call" and has_more_calls and _word(item.get("call_id")) not in known_ids:
                index = place if place not in self._calls else max(self._calls) + 1
                yield from self._complete_call(index, item, item.get("arguments"))

    def _find_untold(self, output: Sequence[Mapping[str, Any]], kind: str, field: str) -> Sequence[int]:
        """Return the places of the items of one kind whose texts have not been told."""
        texts = {place: _text_of(item, field) for place, item in enumerate(output) if item.get("type") == kind}
        return self._told[field].find_untold(texts)

    def _note_response(self, response: Mapping[str, Any]) -> None:
        self._id = self._id or _word(response.get("id"))
        self._language_model = self._language_model or _word(response.get("model"))


class _ToldTexts:
    """The texts of items that have been told, in pieces or when they were done, so that each is told once.

    Servers change the output_index on the way: an item is the same one by its index, or by its text.
    """

    def __init__(self) -> None:
        self._pieces: dict[int | None, list[str]] = {}  # by output_index
        self._ended: set[int | None] = set()  # of these, those whose item is done
        self._done: dict[int, str] = {}  # the texts of all items that are done, by output_index
        self._whole: list[str] = []  # of these, those that came in no pieces

    def add_piece(self, index: object, piece: str) -> None:
        known = index if isinstance(index, int) and len(self._pieces) < _MOST_TEXTS else None
        self._pieces.setdefault(known, []).append(piece)

    def take_done(self, index: int, text: str) -> bool:
        """Note that an item is done, and tell whether its text has been told."""
        if not text.strip() or len(self._pieces) >= _MOST_TEXTS or self._done.get(index) == text:
            return True
        self._done[index] = text
        if index in self._pieces and index not in self._ended:
            self._ended.add(index)
            return True
        left = [each for each in self._pieces if each not in self._ended]
        same = [each for each in left if _is_same(text, self._joined(each))][:1]
        if not same and _is_same(text, "".join(map(self._joined, left))):  # each piece had an index of its own
            same = left
        if not same:
            self._whole.append(text)
        self._ended.update(same)
        return bool(same)

    def find_untold(self, texts: Mapping[int, str]) -> list[int]:
        """Return the places of those of *texts*, which are all that there are, that have not been told.

        A text that differs from the pieces that came of it is no further one: their number tells.
        """
        texts = {place: text for place, text in texts.items() if text.strip()}
        further = len(texts) - len(self._pieces) - len(self._whole)
        if further <= 0:
            return []
        told = [*map(self._joined, self._pieces), *self._whole]
        untold = [place for place, text in texts.items() if not any(_is_same(text, each) for each in told)]
        return untold[-further:]

    def _joined(self, index: int | None) -> str:
        pieces = self._pieces[index]
        pieces[:] = ["".join(pieces)]
        return pieces[0]


class _EventNumbers:
    """The sequence numbers of events, by which one that is sent twice is recognized.

    Some servers number all events alike: numbers mean nothing once two events that differ have the same one.
    """

    def __init__(self) -> None:
        self._are_unique = True
        self._newest: dict[int, int] = {}  # what the event said, by its number
        self._older: dict[int, int] = {}

    def is_repeated(self, event: Mapping[str, Any]) -> bool:
        number = event.get("sequence_number")
        if not self._are_unique or type(number) is not int:
            return False
        said = hash((str(event["type"]), str(event.get("output_index")), str(event.get("delta"))))
        before = self._newest.get(number, self._older.get(number))
        if before is None:
            if len(self._newest) == _MOST_NUMBERS:
                self._older, self._newest = self._newest, {}
            self._newest[number] = said
            return False
        self._are_unique = before == said
        return self._are_unique


def _is_same(text: str, told: str) -> bool:
    """Tell whether two texts are of one item; one of them may lack the thoughts before it."""
    text, told = text.strip(), told.strip()
    return bool(text and told) and (text.endswith(told) or told.endswith(text))


def _index_of(event: Mapping[str, Any]) -> int:
    """Return the output_index, by which items are sorted. Raises `TypeError` for anything but a whole number."""
    index = event["output_index"]
    if not isinstance(index, int) or isinstance(index, bool):
        raise TypeError("an output_index is no whole number")
    return index


def _mappings_in(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _parts_of(item: Mapping[str, Any], field: str) -> list[str]:
    """Return the texts of an item's parts."""
    found = (part.get("text") or part.get("refusal") for part in _mappings_in(item.get(field)))
    return [text for text in found if isinstance(text, str)]


def _text_of(item: Mapping[str, Any], field: str) -> str:
    return "".join(_parts_of(item, field))


def _parse_usage(usage: Mapping[str, Any]) -> Usage | None:
    """Return the usage of a response, whose numbers are those of Chat Completions under other names."""
    details = {"input": "prompt", "output": "completion"}
    named: dict[str, Any] = {f"{chat}_tokens": usage.get(f"{name}_tokens") for name, chat in details.items()}
    named |= {f"{chat}_tokens_details": usage.get(f"{name}_tokens_details") for name, chat in details.items()}
    return parse_usage({**usage, **named})


def _sendable(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reasoning item as it goes back: as it came, but for its status, which some servers refuse."""
    return {name: value for name, value in item.items() if name != "status" and value is not None}


def _word(value: object) -> str:
    return UNSTORABLE.sub("", value) if isinstance(value, str) else ""
