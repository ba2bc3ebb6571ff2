"""A prompt as the demo model parses it: question, passages, tool results, and every sentence that it may quote.

Sentences come newest first, because what was said last counts. What the assistant said is not among them: the demo
model believes people and passages, not itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from conversations.core.prompt.grounding_text import (
    CUT,
    GROUNDING_HEADER,
    LIKE_OURS,
    QUESTION_HEADER,
    QUOTED,
    RECALL_HEADER,
)
from conversations.core.prompt.messages import Prompt, PromptMessage, PromptToolCall
from conversations.core.prompt.pictures import PromptPicture
from conversations.core.prompt.summary_text import SUMMARY_HEADER
from conversations.core.prompt.system_text import split_system_text
from conversations.core.window.truncation import TRUNCATION_MARK

from .phrases import CHINESE, ENGLISH

HEADING_MARK = " › "
USER_LINE = "- User: "  # of the summaries that the demo model writes
_HAN = re.compile(r"[\u4e00-\u9fff]")
_LEFT_OUT = re.compile(r"\n\n\((\d{1,9}) more passages? (?:was|were) found but did not fit\.\)\Z")
_DAY = re.compile(r"(\d{4}-)?(\d\d-\d\d(?: in another conversation)?)")
_SPEAKER = re.compile(r"([^\W\d_]\d*): ")
_FIELD = re.compile(r"(?P<name>\w[\w -]{0,39}): *(?P<value>.+)")
_TITLES = ("title", "name", "subject", "标题", "题目", "名称")
_WHERE_AND_WHEN = ("day", "date", "日期", "start", "time", "时间", "room", "place", "location", "地点", "房间")
LONGEST_DETAIL_CHARACTERS = 60


@dataclass(frozen=True)
class SentPassage:
    """A numbered block of grounding. A record consists of lines with a field each: `room: Great Hall`."""

    number: int
    source: str
    text: str

    @cached_property
    def fields(self) -> dict[str, str]:
        """The fields of a record by their names in lower case; nothing where this is no record."""
        lines = [line for line in self.text.splitlines() if line.strip()]
        found = [match for line in lines if (match := _FIELD.fullmatch(line.strip()))]
        is_record = len(found) > 1 and len(found) == len(lines)
        return {match["name"].lower(): match["value"] for match in found} if is_record else {}

    @property
    def title(self) -> str:
        """The title of a record, or the last heading above a text; blank where there is none."""
        named = (self.fields[name] for name in _TITLES if name in self.fields)
        _, _, heading = self.source.rpartition(HEADING_MARK) if HEADING_MARK in self.source else ("", "", "")
        return next(named, heading)

    @property
    def details(self) -> str:
        """Where and when, as far as a record says it briefly."""
        found = (self.fields[name] for name in _WHERE_AND_WHEN if name in self.fields)
        return ", ".join(value for value in found if len(value) <= LONGEST_DETAIL_CHARACTERS)

    @property
    def prose(self) -> str:
        """The text to quote: that of the passage, or the longest field of a record, without the mark of a cut."""
        longest = max(self.fields.values(), key=len) if self.fields else self.text
        return longest.removesuffix(TRUNCATION_MARK).rstrip()


class QuotableMessage(NamedTuple):
    """A piece of an older message that was sent beside the question: said on *day*, as year-month-day."""

    day: str
    is_by_assistant: bool
    text: str


@dataclass(frozen=True)
class Grounding:
    """The *passages* that were retrieved for a *question* and sent. *left_out* more did not fit.

    *recalled* are pieces of older messages, oldest first.
    """

    question: str
    passages: tuple[SentPassage, ...] = ()
    left_out: int = 0
    recalled: tuple[QuotableMessage, ...] = ()


def parse_grounding(content: str) -> Grounding:
    """Split the newest user message into what `core.prompt.grounding_text` joins: passages, recall and question."""
    if not content.startswith((GROUNDING_HEADER, RECALL_HEADER)):
        return Grounding(content)
    blocks, _, question = content.partition(f"\n\n{QUESTION_HEADER}\n")
    blocks, _, recalled = f"\n\n{blocks}".partition(f"\n\n{RECALL_HEADER}")
    left_out = _LEFT_OUT.search(blocks)
    passages = _LEFT_OUT.sub("", blocks)
    return Grounding(
        question, tuple(_passages(passages)), int(left_out[1]) if left_out else 0, tuple(_recalled(recalled))
    )


def _recalled(block: str) -> list[QuotableMessage]:
    """Return the messages of the block, whose first line is the rest of its header: ` U: user, A: assistant.`"""
    legend, _, rest = block.partition("\n")
    speakers = [each.split(": ", 1) for each in legend.strip(" .").split(", ") if ": " in each]
    assistant = next((initial for initial, called in speakers if called == "assistant"), "")
    found: list[QuotableMessage] = []
    year = day = ""
    for line in rest.splitlines():
        if heading := _DAY.fullmatch(line):
            year = heading[1] or year
            day = f"{year}{heading[2]}"
        elif head := _SPEAKER.match(line):
            found.append(QuotableMessage(day, head[1] == assistant, line[head.end() :]))
        elif found:
            found[-1] = found[-1]._replace(text=f"{found[-1].text}\n{_unquoted(line)}")
    return found


def _passages(blocks: str) -> Iterator[SentPassage]:
    """Yield the blocks `[1] source⏎text`. Only the number that is due begins one."""
    _, _, rest = blocks.partition("\n\n[1] ")
    number = 1
    while rest:
        block, _, rest = rest.partition(f"\n\n[{number + 1}] ")
        source, _, text = block.partition("\n")
        yield SentPassage(number, source.strip(), "\n".join(map(_unquoted, text.splitlines())).strip())
        number += 1


def _unquoted(line: str) -> str:
    bare = line.removeprefix(QUOTED)
    return bare if LIKE_OURS.match(bare) else line


_SENTENCE = re.compile(r"(?:[^.!?。！？\n]|\.(?=\w))+[.!?。！？]*")
_QUESTION = re.compile(
    r"[?？]\s*$|[吗呢]\s*$|^\s*(?:what|who|whom|whose|where|when|why|how|which|do|does|did|can|could|is|are|was|were"
    r"|will|would|should|tell me|remind me)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with where it stands: in message *message_number*, in *passage*, or else in the system prompt.

    If it was recalled, it is message *recalled_number* of those that were, from 1, and *day* is when it was said.
    *in_summary* tells that it stands in the summary, *is_noted* that it does in the user's notes.
    """

    text: str
    message_number: int | None = None
    passage: SentPassage | None = None
    recalled_number: int | None = None
    day: str = ""
    in_summary: bool = False
    is_noted: bool = False

    @property
    def is_question(self) -> bool:
        return _QUESTION.search(self.text) is not None


class SentResult(NamedTuple):
    """A tool *call* with its result, as they stand in the prompt."""

    call: PromptToolCall
    text: str


@dataclass(frozen=True)
class DemoPrompt:
    """*messages* is the prompt as received, *tokens* its size, *tools* the functions that may be called, by name."""

    messages: Prompt
    tokens: int
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def phrases(self) -> dict[str, str]:
        """The phrases of a reply, in the language of the question."""
        return CHINESE if _HAN.search(self.question) else ENGLISH

    @property
    def message_count(self) -> int:
        """How many messages of the conversation there are, without the system's."""
        return len(self._conversation)

    @cached_property
    def _conversation(self) -> list[PromptMessage]:
        return [message for message in self.messages if message.role != "system" and not _is_summary(message)]

    @cached_property
    def question(self) -> str:
        """The newest user message, without its grounding."""
        return self._grounding.question.strip()

    @property
    def pictures(self) -> tuple[PromptPicture, ...]:
        """The pictures of the newest user message."""
        return next((message.pictures for message in reversed(self.messages) if message.role == "user"), ())

    @property
    def earlier_pictures(self) -> int:
        """How many pictures there are in the user messages before."""
        return sum(len(message.pictures) for message in self.messages) - len(self.pictures)

    @property
    def passages(self) -> tuple[SentPassage, ...]:
        """The passages that were retrieved for the question, and sent."""
        return self._grounding.passages

    @property
    def recalled_count(self) -> int:
        """How many pieces of older messages were recalled for the question, and sent."""
        return len(self._grounding.recalled)

    @property
    def left_out(self) -> int:
        """How many more passages were retrieved and did not fit."""
        return self._grounding.left_out

    @cached_property
    def results(self) -> tuple[SentResult, ...]:
        """The results of the tools that were called for the question."""
        last = max((place for place, message in enumerate(self.messages) if message.role == "user"), default=0)
        steps = self.messages[last:]
        calls = {call.id: call for message in steps for call in message.tool_calls}
        results = {message.tool_call_id: message.content for message in steps if message.role == "tool"}
        return tuple(SentResult(call, results[id_]) for id_, call in calls.items() if id_ in results)

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """All that may be quoted: passages, the user's messages and those recalled, newest first, then the system's."""
        of_people = (*self._of_people(), *self._of_recalled(), *self._of_summary())
        return (*self._of_passages(), *of_people, *self._of_system())

    @cached_property
    def _grounding(self) -> Grounding:
        contents = [message.content for message in self.messages if message.role == "user"]
        return parse_grounding(contents[-1] if contents else "")

    def _of_passages(self) -> Iterator[Sentence]:
        for passage in self.passages:
            for text in passage.fields.values() or [passage.text]:
                yield from (Sentence(sentence, passage=passage) for sentence in split_sentences(text))

    def _of_people(self) -> Iterator[Sentence]:
        conversation = self._conversation
        newest_number = max((n for n, message in enumerate(conversation, 1) if message.role == "user"), default=0)
        for number, message in reversed(list(enumerate(conversation, start=1))):
            if message.role == "user":
                content = self.question if number == newest_number else message.content
                yield from (Sentence(text, message_number=number) for text in reversed(split_sentences(content)))

    def _of_recalled(self) -> Iterator[Sentence]:
        for number, message in reversed(list(enumerate(self._grounding.recalled, start=1))):
            if not message.is_by_assistant:
                sentences = split_sentences(message.text.removeprefix(CUT).removesuffix(CUT))
                yield from (Sentence(each, recalled_number=number, day=message.day) for each in reversed(sentences))

    def _of_summary(self) -> Iterator[Sentence]:
        for message in self.messages:
            if _is_summary(message):
                said = (line.partition(USER_LINE)[2] for line in message.content.splitlines() if USER_LINE in line)
                yield from (Sentence(text, in_summary=True) for line in said for text in split_sentences(line))

    def _of_system(self) -> Iterator[Sentence]:
        for message in self.messages:
            if message.role == "system":
                texts = split_system_text(message.content)
                for noted in (texts.notes, texts.about_me):
                    yield from (Sentence(sentence, is_noted=True) for sentence in split_sentences(noted))
                yield from map(Sentence, split_sentences(texts.system_prompt))


def _is_summary(message: PromptMessage) -> bool:
    return message.role == "user" and message.content.startswith(SUMMARY_HEADER)


def split_sentences(text: str) -> list[str]:
    """Split at full stops, question marks and lines; a dot inside a word, as in 3.5 or e.g., splits nothing."""
    return [sentence.strip() for sentence in _SENTENCE.findall(text) if sentence.strip()]
