"""A completion's stream: bytes to server-sent events, events to deltas, and deltas of tool calls to whole calls.

    chunk = {"id", "model", "choices": [{"delta": {"content", "tool_calls"}, "finish_reason"}], "usage"}

Servers differ in what they leave out: choices may be empty, content null or missing, a chunk may only name the role,
usage may come on every chunk (the last one counts) or not at all. Reasoning is not part of the reply: it comes as
events of its own, whichever field it is sent in, and also out of tags in the content. Where usage is missing it is
counted. (Models that hide it and are stopped before they report usage cost more than we can know.)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from conversations.core.errors import MalformedStream
from conversations.core.money.usage import Usage
from conversations.core.prompt.messages import PromptToolCall, digest_of_text
from conversations.core.prompt.openai_messages import MOST_ID_CHARACTERS
from conversations.core.text.storable_text import UNSTORABLE, StorablePieces
from conversations.core.tools.tool_spec import is_object

from .dialect import CALL_REASONING_FIELDS
from .reasoning_fields import ReasoningFields, reasoning_text
from .reported_usage import leave_out_uncounted, parse_usage
from .think_tags import Piece, Said, ThinkTags, ThinkTagsUse, Thought

_DATA = b"data:"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MOST_EVENT_BYTES = 8_000_000  # more than the longest that is meant: a whole response with a long encrypted item


class EventReader:
    """Reads the server-sent events of one stream: bytes in pieces of any size to the data of each event.

    The client's package has a reader too. With that one a chunk took twice as long on its way through the client. An
    event counts when the blank line after it has come; one that is cut off before that is dropped. A byte order mark
    before the first one says nothing. After `[DONE]`, which is not among them, it *is_done* and reads no more.
    """

    def __init__(self) -> None:
        self.count = 0
        self.is_done = False
        self._line = bytearray()  # what has come of the line that has not ended
        self._data: list[bytes] = []  # the lines of the event that has not ended
        self._data_bytes = 0
        self._has_begun = False

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Yield the data of each event that *piece* completes, in order. Raises `MalformedStream` for one too long."""
        if b"\n" in piece:
            *lines, rest = (bytes(self._line) + piece if self._line else piece).split(b"\n")
            self._line = bytearray(rest)
            for line in lines:
                yield from self._take(line.removesuffix(b"\r"))
                if self.is_done:
                    return
        else:
            self._line += piece
        if len(self._line) + self._data_bytes > MOST_EVENT_BYTES:
            raise MalformedStream(detail=f"an event is longer than {MOST_EVENT_BYTES:,} bytes")

    def _take(self, line: bytes) -> Iterator[bytes]:
        if not self._has_begun:
            self._has_begun, line = True, line.removeprefix(_BYTE_ORDER_MARK)
        if line.startswith(_DATA):
            self._data_bytes += len(line)
            self._data.append(line.removeprefix(_DATA).removeprefix(b" "))
        elif not line and self._data:
            data = b"\n".join(self._data)
            self._data.clear()
            self._data_bytes = 0
            self.is_done = data.startswith(b"[DONE]")
            if not self.is_done:
                self.count += 1
                yield data


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A further piece of the reply's text, never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of what the model thinks before it answers: not part of the reply, but paid for."""

    text: str


@dataclass(frozen=True, slots=True)
class TextWasReasoning:
    """All text that has come so far was thought before the reply, as a closing tag tells that came after it."""


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A further piece of tool call number *index*: id and name come once, the arguments in pieces of JSON text.

    *kept* are fields that the provider demands back with the call. Where it *replaces*, its arguments are whole, and
    take the place of the pieces before.
    """

    index: int
    id: str
    name: str
    arguments: str
    kept: Mapping[str, Any] = field(default_factory=dict)
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class CompletionEnd:
    """The stream is over. Without a *finish_reason* it was cut, whatever else looks right.

    *kept* is reasoning that the provider may demand back with the calls: *fields* of their message, or *items*; of
    those that are *too_long* for that, how many characters they have.
    """

    finish_reason: str | None
    usage: Usage | None
    provider_request_id: str
    language_model: str
    kept: Mapping[str, Any] = field(default_factory=dict)


Delta = TextDelta | ReasoningDelta | TextWasReasoning | ToolCallDelta
CompletionEvent = Delta | CompletionEnd


def join_text(deltas: Iterator[Delta]) -> Iterator[Delta]:
    """Yield *deltas*, those of text that come one after another as one. Those before an error come before it, too.

    What takes the text is called once for a piece that has come, not for each chunk in it.
    """
    texts: list[str] = []
    try:
        for delta in deltas:
            if type(delta) is TextDelta:
                texts.append(delta.text)
                continue
            if texts:
                yield TextDelta("".join(texts))
                texts.clear()
            yield delta
    except Exception:
        if texts:
            yield TextDelta("".join(texts))
        raise
    if texts:
        yield TextDelta("".join(texts))


class CompletionReader:
    """Reads one completion's chunks in their order and collects what its `CompletionEnd` says.

    After the last chunk `finish` yields what was held back. *think_tags* is whether thoughts may be there.
    """

    def __init__(self, *, think_tags: ThinkTagsUse = "yes") -> None:
        self.has_begun = False
        self.finish_reason: str | None = None
        self._usage: Usage | None = None
        self._has_text = False
        self._id = ""
        self._language_model = ""
        self._pieces = StorablePieces()
        self._thoughts = StorablePieces()
        self._reasoning = ReasoningFields()
        self._tags = ThinkTags(think_tags)

    def read(self, chunk: object) -> Iterator[Delta]:
        """Yield what *chunk* adds to the reply. Raises `MalformedStream` where it is no chunk at all."""
        self.has_begun = True
        try:
            yield from self._read(chunk)  # type: ignore[arg-type]
        except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError) as exc:
            raise MalformedStream(detail=f"not a completion chunk: {type(exc).__name__}") from exc

    def finish(self) -> Iterator[Delta]:
        """Yield what was held back until the content is over."""
        yield from self._tell(self._tags.end())

    def end(self, *, request_id: str = "") -> CompletionEnd:
        """Return the end as far as the chunks say it; *request_id* is the one in the response's headers."""
        usage = leave_out_uncounted(self._usage, has_text=self._has_text)
        told = {"fields": self._reasoning.fields(), "too_long": self._reasoning.too_long()}
        kept = {name: value for name, value in told.items() if value}
        return CompletionEnd(self.finish_reason, usage, request_id or self._id, self._language_model, kept)

    def _read(self, chunk: Mapping[str, Any]) -> Iterator[Delta]:
        self._id = self._id or _word(chunk.get("id"))
        self._language_model = self._language_model or _word(chunk.get("model"))
        if usage := chunk.get("usage"):
            self._usage = parse_usage(usage, chunk.get("timings")) or self._usage
        if not (choices := chunk.get("choices")):
            return
        choice = choices[0]
        delta = choice.get("delta") or {}
        content = delta.get("content")
        if len(delta) > 1 or type(content) is not str:  # most chunks have nothing but content
            yield from self._read_reasoning(delta)
        # A refusal is what OpenAI's models write in place of content: the user should read it.
        if text := self._pieces.take(_text(content) or delta.get("refusal") or ""):
            if self._tags.pass_as_text(text):
                self._has_text = True
                yield TextDelta(text)
            else:
                yield from self._tell(self._tags.feed(text))
        if "tool_calls" in delta:
            yield from _tool_call_deltas(delta)
        # Some servers send "" on every chunk but the last.
        self.finish_reason = _word(choice.get("finish_reason")) or self.finish_reason

    def _read_reasoning(self, delta: Mapping[str, Any]) -> Iterator[Delta]:
        self._reasoning.take(delta)
        if (found := reasoning_text(delta)) and (text := self._thoughts.take(found)):
            if not text.isspace():  # some servers send a blank one before the tags
                self._tags.expect_none()
            yield ReasoningDelta(text)

    def _tell(self, pieces: Iterator[Piece]) -> Iterator[Delta]:
        for delta in split_deltas(pieces):
            self._has_text = self._has_text or isinstance(delta, TextDelta)
            yield delta


def split_deltas(pieces: Iterator[Piece]) -> Iterator[TextDelta | ReasoningDelta | TextWasReasoning]:
    """Yield the deltas of content that was split by its tags."""
    for piece in pieces:
        if isinstance(piece, Said):
            yield TextDelta(piece.text)
        elif isinstance(piece, Thought):
            yield ReasoningDelta(piece.text)
        else:
            yield TextWasReasoning()


def _tool_call_deltas(delta: Mapping[str, Any]) -> Iterator[ToolCallDelta]:
    for position, call in enumerate(delta.get("tool_calls") or ()):
        function = call.get("function") or {}
        yield ToolCallDelta(
            index=position if call.get("index") is None else int(call["index"]),
            id=_word(call.get("id")),
            name=_word(function.get("name")),
            arguments=arguments_text(function.get("arguments")),
            kept={name: call[name] for name in CALL_REASONING_FIELDS if call.get(name)},
        )


def arguments_text(value: object) -> str:
    """Return a piece of JSON text; some servers send the object itself, whole."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _word(value: object) -> str:
    """Return a name that the provider gives, fit to be stored; blank for anything but text."""
    return UNSTORABLE.sub("", value) if isinstance(value, str) else ""


def _text(content: object) -> str:
    """Return the text of *content*: text, nothing, or (Mistral) parts of which some are thinking."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    raise TypeError("content is neither text nor parts")


MOST_CALLS = 128  # more than any model means to make
SHORT_ID_DIGITS = 24


@dataclass(slots=True)
class _PartialCall:
    """One tool call, as far as it has arrived."""

    id: str
    name: str
    pieces: list[str] = field(default_factory=list)
    kept: dict[str, Any] = field(default_factory=dict)

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    def is_continued_by(self, delta: ToolCallDelta) -> bool:
        """Tell whether *delta*, which has this call's number, is a further piece of it, or another call."""
        if delta.id and self.id:
            return delta.id == self.id
        may_be_another = bool(delta.name and self.name and self.pieces[-1].rstrip().endswith("}"))
        return not (may_be_another and is_object(self.arguments))


class ToolCallCollector:
    """Collects the tool calls of one completion from the deltas in which they come.

    Servers leave out ids, repeat them, give all calls the same number or none at all: every call that comes out has an
    id of its own.
    """

    def __init__(self) -> None:
        self._calls: list[_PartialCall] = []
        self._open: dict[int, _PartialCall] = {}  # by the number that the server gives them

    def __bool__(self) -> bool:
        return bool(self._calls)

    def take(self, delta: ToolCallDelta) -> None:
        call = self._open.get(delta.index)
        if call is None or not call.is_continued_by(delta):
            call = self._open[delta.index] = _PartialCall(delta.id, delta.name)
            self._calls.append(call)
        call.id, call.name = call.id or delta.id, call.name or delta.name
        if delta.replaces:
            call.pieces.clear()
        call.pieces.append(delta.arguments)
        if delta.kept:  # a signature may come late, and twice: the last one counts
            call.kept |= delta.kept

    @property
    def text(self) -> str:
        """Return their names and arguments, to be counted where no usage is reported."""
        return "".join(call.name + call.arguments for call in self._calls)

    @property
    def kept(self) -> list[dict[str, Any] | None]:
        """Return the fields that the provider may demand back with each call, in the order of `calls`."""
        return [call.kept or None for call in self._calls[:MOST_CALLS]]

    @property
    def long_ids(self) -> list[str | None]:
        """Return the ids that are too long to be stored with the calls, in the order of `calls`; None for the others.

        The provider may have hidden in them what it demands back with the call.
        """
        ids = [_storable(call.id) for call in self._calls[:MOST_CALLS]]
        return [
            each if len(each) > MOST_ID_CHARACTERS and each not in ids[:place] else None
            for place, each in enumerate(ids)
        ]

    def calls(self, *, step: int, is_cut: bool = False) -> tuple[PromptToolCall, ...]:
        """Return the first `MOST_CALLS` in their order.

        Ids that are missing or not unique are replaced, those that are too long (`long_ids`) by a digest: the next
        model may want the ids of all turns to differ. Without arguments a call is one of an empty object, but not the
        last one of a completion that *is_cut*: what it would have been is unknown.
        """
        taken: set[str] = set()
        calls = []
        for place, parts in enumerate(self._calls[:MOST_CALLS]):
            call_id = _storable(parts.id)
            if len(call_id) > MOST_ID_CHARACTERS:
                call_id = f"call_{digest_of_text(call_id)[:SHORT_ID_DIGITS]}"
            if not call_id or call_id in taken:
                call_id = f"call_{step}_{place}"
            taken.add(call_id)
            empty = "" if is_cut and parts is self._calls[-1] else "{}"
            calls.append(PromptToolCall(call_id, _storable(parts.name), _storable(parts.arguments) or empty))
        return tuple(calls)


def _storable(text: str) -> str:
    return StorablePieces().take(text)
