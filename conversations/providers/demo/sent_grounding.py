"""The newest user message as the demo model reads it: the passages that were looked up, and the question behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from conversations.core.prompt.grounding_text import GROUNDING_HEADER, LIKE_OURS, QUESTION_HEADER, QUOTED
from conversations.core.window.truncation import CUT_MARK

HEADING_MARK = " › "
_LEFT_OUT = re.compile(r"\n\n\((\d{1,9}) more passages? (?:was|were) found but did not fit\.\)\Z")
_FIELD = re.compile(r"(?P<name>\w[\w -]{0,39}): *(?P<value>.+)")
_TITLES = ("title", "name", "subject", "标题", "题目", "名称")
_WHERE_AND_WHEN = ("day", "date", "日期", "start", "time", "时间", "room", "place", "location", "地点", "房间")
LONGEST_DETAIL_CHARACTERS = 60


@dataclass(frozen=True)
class Passage:
    """A numbered block of grounding. A record is made of nothing but lines with a field: `room: Great Hall`."""

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
        """What a record is called, or the last heading above a text; blank where there is none."""
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
        """What can be quoted: the text, or the longest field of a record, without the mark of a cut."""
        longest = max(self.fields.values(), key=len) if self.fields else self.text
        return longest.removesuffix(CUT_MARK).rstrip()


@dataclass(frozen=True)
class Grounding:
    """What was looked up for a *question*: the *passages* that were sent. *left_out* more did not fit."""

    question: str
    passages: tuple[Passage, ...] = ()
    left_out: int = 0


def read_grounding(content: str) -> Grounding:
    """Take the newest user message apart, as `core.prompt` puts it together."""
    if not content.startswith(GROUNDING_HEADER):
        return Grounding(content)
    blocks, _, question = content.partition(f"\n\n{QUESTION_HEADER}\n")
    left_out = _LEFT_OUT.search(blocks)
    passages = _LEFT_OUT.sub("", blocks)
    return Grounding(question, tuple(_passages(passages)), int(left_out[1]) if left_out else 0)


def _passages(blocks: str) -> Iterator[Passage]:
    """Yield the blocks `[1] source⏎text`. Only the number that is due begins one."""
    _, _, rest = blocks.partition("\n\n[1] ")
    number = 1
    while rest:
        block, _, rest = rest.partition(f"\n\n[{number + 1}] ")
        source, _, text = block.partition("\n")
        yield Passage(number, source.strip(), "\n".join(map(_unquoted, text.splitlines())).strip())
        number += 1


def _unquoted(line: str) -> str:
    bare = line.removeprefix(QUOTED)
    return bare if LIKE_OURS.match(bare) else line
