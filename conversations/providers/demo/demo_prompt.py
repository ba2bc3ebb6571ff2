"""A prompt as the demo model reads it: the question, and every sentence that it may quote.

Sentences come newest first, because what was said last counts. What the assistant said is not among them: the demo
model believes people and passages, not itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from conversations.core.prompt.messages import Prompt, ToolCall

from .sent_grounding import Grounding, Passage, read_grounding

_SENTENCE = re.compile(r"(?:[^.!?。！？\n]|\.(?=\w))+[.!?。！？]*")
_QUESTION = re.compile(
    r"[?？]\s*$|[吗呢]\s*$|^\s*(?:what|who|whom|whose|where|when|why|how|which|do|does|did|can|could|is|are|was|were"
    r"|will|would|should|tell me|remind me)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with where it stands: in message *message_number*, in *passage*, or else in the system prompt."""

    text: str
    message_number: int | None = None
    passage: Passage | None = None

    @property
    def is_question(self) -> bool:
        return _QUESTION.search(self.text) is not None


class Result(NamedTuple):
    """What came of a tool *call*, as the prompt has it."""

    call: ToolCall
    text: str


@dataclass(frozen=True)
class DemoPrompt:
    """*messages* is the prompt as received, *tokens* its size, *tools* the functions that may be called, by name."""

    messages: Prompt
    tokens: int
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def message_count(self) -> int:
        """How many messages of the conversation there are, without the system's."""
        return sum(message.role != "system" for message in self.messages)

    @cached_property
    def question(self) -> str:
        """What the person wrote last, without its grounding."""
        return self._grounding.question.strip()

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The passages that were looked up for the question, and sent."""
        return self._grounding.passages

    @property
    def left_out(self) -> int:
        """How many more passages were looked up and did not fit."""
        return self._grounding.left_out

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """What came of the tools that were called for the question."""
        last = max((place for place, message in enumerate(self.messages) if message.role == "user"), default=0)
        steps = self.messages[last:]
        calls = {call.id: call for message in steps for call in message.tool_calls}
        results = {message.tool_call_id: message.content for message in steps if message.role == "tool"}
        return tuple(Result(call, results[id_]) for id_, call in calls.items() if id_ in results)

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """What may be quoted: the passages, then what the person said, newest first, then the system prompt."""
        return (*self._of_passages(), *self._of_people(), *self._of_system())

    @cached_property
    def _grounding(self) -> Grounding:
        contents = [message.content for message in self.messages if message.role == "user"]
        return read_grounding(contents[-1] if contents else "")

    def _of_passages(self) -> Iterator[Sentence]:
        for passage in self.passages:
            for text in passage.fields.values() or [passage.text]:
                yield from (Sentence(sentence, passage=passage) for sentence in split_sentences(text))

    def _of_people(self) -> Iterator[Sentence]:
        conversation = [message for message in self.messages if message.role != "system"]
        newest_number = max((n for n, message in enumerate(conversation, 1) if message.role == "user"), default=0)
        for number, message in reversed(list(enumerate(conversation, start=1))):
            if message.role == "user":
                content = self.question if number == newest_number else message.content
                yield from (Sentence(text, message_number=number) for text in reversed(split_sentences(content)))

    def _of_system(self) -> Iterator[Sentence]:
        for message in self.messages:
            if message.role == "system":
                yield from map(Sentence, split_sentences(message.content))


def split_sentences(text: str) -> list[str]:
    """Split at full stops, question marks and lines; a dot inside a word, as in 3.5 or e.g., splits nothing."""
    return [sentence.strip() for sentence in _SENTENCE.findall(text) if sentence.strip()]
