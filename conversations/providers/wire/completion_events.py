"""What a completion's stream says, event by event, read from the chunks of OpenAI's wire format.

    chunk = {"id", "model", "choices": [{"delta": {"content", "tool_calls"}, "finish_reason"}], "usage"}

Servers differ in what they leave out: choices may be empty, content null or missing, a chunk may only name the role,
usage may come on every chunk (the last one counts) or not at all. Reasoning is not part of the reply, but is counted
where usage is missing. (Models that hide it and are stopped before they report usage cost more than we can know.)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conversations.core.errors import MalformedStream
from conversations.core.money.usage import Usage
from conversations.core.text.storable_text import UNSTORABLE, StorablePieces

from .reported_usage import read_usage


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A further piece of the reply's text, never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """What the model thinks before it answers: not part of the reply, but paid for."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A further piece of tool call number *index*: id and name come once, the arguments in pieces of JSON text."""

    index: int
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class CompletionEnd:
    """The stream is over. Without a *finish_reason* it was cut, whatever else looks right."""

    finish_reason: str | None
    usage: Usage | None
    provider_request_id: str
    language_model: str


CompletionEvent = TextDelta | ReasoningDelta | ToolCallDelta | CompletionEnd


class CompletionReader:
    """Reads one completion's chunks in their order and keeps what its end will say."""

    def __init__(self) -> None:
        self.has_begun = False
        self.finish_reason: str | None = None
        self._usage: Usage | None = None
        self._has_text = False
        self._id = ""
        self._language_model = ""
        self._pieces = StorablePieces()

    def read(self, chunk: object) -> Iterator[TextDelta | ReasoningDelta | ToolCallDelta]:
        """Yield what *chunk* adds to the reply. Raises `MalformedStream` where it is no chunk at all."""
        self.has_begun = True
        try:
            yield from self._read(chunk)  # type: ignore[arg-type]
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as exc:
            raise MalformedStream(detail=f"not a completion chunk: {type(exc).__name__}") from exc

    def end(self, *, request_id: str = "") -> CompletionEnd:
        """Return the end as far as the chunks told it; *request_id* is the one in the response's headers.

        Usage from before the first word, or by whoever does not count what was written, is none.
        """
        is_counted = self._usage is not None and (self._usage.output_tokens > 0 or not self._has_text)
        usage = self._usage if is_counted else None
        return CompletionEnd(self.finish_reason, usage, request_id or self._id, self._language_model)

    def _read(self, chunk: Mapping[str, Any]) -> Iterator[TextDelta | ReasoningDelta | ToolCallDelta]:
        self._id = self._id or _word(chunk.get("id"))
        self._language_model = self._language_model or _word(chunk.get("model"))
        if usage := chunk.get("usage"):
            self._usage = read_usage(usage) or self._usage
        if not (choices := chunk.get("choices")):
            return
        choice = choices[0]
        delta = choice.get("delta") or {}
        if reasoning := _reasoning(delta):
            yield ReasoningDelta(reasoning)
        # A refusal is what OpenAI's models write in place of content: the person should read it.
        if text := self._pieces.take(_text(delta.get("content")) or delta.get("refusal") or ""):
            self._has_text = True
            yield TextDelta(text)
        yield from _tool_call_deltas(delta)
        # Some servers send "" on every chunk but the last.
        self.finish_reason = _word(choice.get("finish_reason")) or self.finish_reason


def _tool_call_deltas(delta: Mapping[str, Any]) -> Iterator[ToolCallDelta]:
    for position, call in enumerate(delta.get("tool_calls") or ()):
        function = call.get("function") or {}
        yield ToolCallDelta(
            index=position if call.get("index") is None else int(call["index"]),
            id=_word(call.get("id")),
            name=_word(function.get("name")),
            arguments=_arguments(function.get("arguments")),
        )


def _arguments(value: object) -> str:
    """Return a piece of JSON text; some servers send the object itself, whole."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _word(value: object) -> str:
    """Return a name that the provider gives, fit to be stored; anything but text is none."""
    return UNSTORABLE.sub("", value) if isinstance(value, str) else ""


def _reasoning(delta: Mapping[str, Any]) -> str:
    """Return the thoughts in *delta*: DeepSeek, vLLM and Qwen have `reasoning_content`, OpenRouter `reasoning`."""
    text = delta.get("reasoning_content") or delta.get("reasoning")
    return text if isinstance(text, str) else ""


def _text(content: object) -> str:
    """Return the text of *content*: text, nothing, or (Mistral) parts of which some are thinking."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    raise TypeError("content is neither text nor parts")
