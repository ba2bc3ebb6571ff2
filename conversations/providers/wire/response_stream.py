"""A response's stream: the events of the Responses API to the same deltas as those of Chat Completions.

    response.created · response.output_item.added · response.output_text.delta · response.refusal.delta
    response.reasoning_summary_text.delta · response.reasoning_text.delta (or response.reasoning.delta)
    response.function_call_arguments.delta · response.output_item.done
    response.completed, .incomplete, .failed · error

What is not known is passed over. Servers differ. Some send a message, a summary or the arguments of a call only when it
is done, or with the whole response; some leave `<think>` in the text. Some change the ids of items on the way, so items
are told apart by their output_index. Some end without `response.completed`, which is a stream that broke. Reasoning
items are kept as they are when they are done: only then is their encrypted content final. Read 2026-11-22 from the
types of openai 3.52 and from Open Responses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conversations.core.errors import MalformedStream
from conversations.core.money.usage import Usage
from conversations.core.text.storable_text import UNSTORABLE, StorablePieces

from .completion_stream import CompletionEnd, Delta, ReasoningDelta, TextDelta, ToolCallDelta, split_deltas
from .provider_errors import Refusal, refusal_error
from .reported_usage import parse_usage
from .think_tags import ThinkTags, ThinkTagsUse

_REASONING: Final = frozenset(
    {"response.reasoning_summary_text.delta", "response.reasoning_text.delta", "response.reasoning.delta"}
)
_TEXT: Final = frozenset({"response.output_text.delta", "response.refusal.delta"})
_END: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
# Why a response is incomplete, as Chat Completions name it.
_FINISH_REASONS: Final = {"max_output_tokens": "length", "max_tokens": "length", "content_filter": "content_filter"}


class ResponseReader:
    """Reads one response's events in their order and collects what its `CompletionEnd` says."""

    def __init__(self, *, think_tags: ThinkTagsUse = "yes") -> None:
        self.has_begun = False
        self.finish_reason: str | None = None
        self._usage: Usage | None = None
        self._id = ""
        self._language_model = ""
        self._pieces = StorablePieces()
        self._thoughts = StorablePieces()
        self._calls: list[int] = []  # the output_index of each call, in the order in which they came
        self._has_arguments: set[int] = set()
        self._reasoning: dict[int, dict[str, Any]] = {}  # by output_index
        self._summary_part: tuple[object, object] | None = None
        self._in_pieces: set[str] = set()  # of an item's fields: those that come in pieces in this stream
        self._has_told = False
        self._tags = ThinkTags(think_tags)

    def read(self, event: object) -> Iterator[Delta]:
        """Yield what *event* adds to the reply. Raises `MalformedStream` where it is no event at all."""
        self.has_begun = True
        try:
            yield from self._read(event)  # type: ignore[arg-type]
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as exc:
            raise MalformedStream(detail=f"not an event of a response: {type(exc).__name__}") from exc

    def finish(self) -> Iterator[Delta]:
        """Yield what was held back until the text is over."""
        return split_deltas(self._tags.end())

    def end(self, *, request_id: str = "") -> CompletionEnd:
        """Return the end as far as the events say it; *request_id* is the one in the response's headers."""
        places = {index: place for place, index in enumerate(self._calls)}
        items = [
            self._reasoning[index] if index in self._reasoning else {"call": places[index]}
            for index in sorted({*self._reasoning, *places})
        ]
        kept = {"items": items} if self._reasoning else {}
        return CompletionEnd(self.finish_reason, self._usage, request_id or self._id, self._language_model, kept)

    def _read(self, event: Mapping[str, Any]) -> Iterator[Delta]:
        kind = event["type"]
        if kind in _TEXT:
            self._in_pieces.add("content")
            yield from self._read_text(event["delta"])
        elif kind in _REASONING:
            self._in_pieces.add("summary")
            yield from self._read_reasoning(event)
        elif kind == "response.output_item.added":
            yield from self._begin_item(event["output_index"], event["item"])
        elif kind == "response.function_call_arguments.delta":
            self._has_arguments.add(event["output_index"])
            yield self._of_call(event["output_index"], arguments=event["delta"])
        elif kind == "response.function_call_arguments.done":
            yield from self._complete_arguments(event["output_index"], event.get("arguments"))
        elif kind == "response.output_item.done":
            yield from self._end_item(event["output_index"], event["item"])
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
        if item.get("type") == "function_call" and index not in self._calls:
            self._calls.append(index)
            if arguments := item.get("arguments"):
                self._has_arguments.add(index)
            yield self._of_call(index, item, arguments=arguments or "")

    def _end_item(self, index: int, item: Mapping[str, Any]) -> Iterator[Delta]:
        kind = item.get("type")
        if kind == "reasoning":
            self._reasoning[index] = _sendable(item)
            yield from self._read_whole_item(index, item, "summary")
        elif kind == "message":
            yield from self._read_whole_item(index, item, "content")
        elif kind == "function_call":
            yield from self._begin_item(index, {**item, "arguments": ""})
            yield from self._complete_arguments(index, item.get("arguments"))

    def _read_whole_item(self, index: int, item: Mapping[str, Any], field: str) -> Iterator[Delta]:
        """Yield the text of an item part by part, where this stream has no pieces of such: else it would come twice.

        The output_index does not tell whether pieces of the same item have come, because servers change it.
        """
        if field in self._in_pieces:
            return
        self._has_told = True
        for place, part in enumerate(item.get(field) or ()):
            text = part.get("text") or part.get("refusal") or ""
            if field == "content":
                yield from self._read_text(text)
            else:
                yield from self._read_reasoning({"delta": text, "output_index": index, "summary_index": place})

    def _complete_arguments(self, index: int, arguments: object) -> Iterator[Delta]:
        """Yield the arguments of a call that came whole, unless they have come in pieces."""
        if isinstance(arguments, str) and arguments and index not in self._has_arguments and index in self._calls:
            self._has_arguments.add(index)
            yield self._of_call(index, arguments=arguments)

    def _of_call(self, index: int, item: Mapping[str, Any] | None = None, *, arguments: str) -> ToolCallDelta:
        if index not in self._calls:
            self._calls.append(index)
        item = item or {}
        return ToolCallDelta(self._calls.index(index), _word(item.get("call_id")), _word(item.get("name")), arguments)

    def _end_response(self, response: Mapping[str, Any]) -> Iterator[Delta]:
        self._note_response(response)
        if not self._in_pieces and not self._has_told and not self._calls:  # the server sends nothing before the end
            for index, item in enumerate(response.get("output") or ()):
                yield from self._end_item(index, item)
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

    def _note_response(self, response: Mapping[str, Any]) -> None:
        self._id = self._id or _word(response.get("id"))
        self._language_model = self._language_model or _word(response.get("model"))


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
